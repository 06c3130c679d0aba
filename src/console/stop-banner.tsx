import type { ReactElement } from 'react';
import { statusGlyphs } from '../react/glyph.tsx';
import { Glyph } from './glyphs.tsx';
import type { GrantState, StopBannerProps } from './contract.ts';
import type { ExplanationAction } from '../continuation/explanation.ts';
import type { StopAction } from '../trace/trace.ts';

/** Tones: stopped is neutral, failed has the color of a forbid, an end without a problem is quiet. */
const tones: Readonly<Record<StopBannerProps['status'], string>> = {
  idle: 'quiet',
  processing: 'neutral',
  paused: 'waiting',
  completed: 'done',
  stopped: 'neutral',
  failed: 'failed',
  cancelled: 'quiet',
};

const eyebrows: Readonly<Record<StopBannerProps['status'], string>> = {
  idle: 'Why it stopped',
  processing: 'Why it continued',
  paused: 'Why it waits',
  completed: 'Why it finished',
  stopped: 'Why it stopped',
  cancelled: 'Why it stopped',
  failed: 'Why it failed',
};

/** Renders why it stopped and how to continue, with the button that does exactly that. */
export function StopBanner(props: StopBannerProps): ReactElement {
  const { stop, status, reason, resolvedBy, grantState, children } = props;
  const { headline, detail, actions } = stop.explanation;
  const [first] = actions;
  if (grantState.kind === 'granted') return <GrantedLine state={grantState} />;
  return (
    <section className="banner" data-tone={tones[status]} aria-label="Why it stopped">
      <span className="banner-glyph">
        <Glyph name={statusGlyphs[status]} />
      </span>
      <div className="banner-words">
        <p className="banner-eyebrow">{eyebrows[status]}</p>
        <p className="banner-sentence">
          <b>{headline}</b>
          {detail !== '' && ` ${detail}`}
        </p>
        {props.meter}
        {first && <p className="banner-note">{first.text}</p>}
        {first && isForDevelopers(first) && (
          <p className="banner-note">To continue: {first.developerText}</p>
        )}
        {(reason !== null || resolvedBy !== null || children) && (
          <p className="banner-meta">
            {reason !== null && <code>{reason}</code>}
            {resolvedBy !== null && (
              <span>
                decided by <code>{resolvedBy}</code>
              </span>
            )}
            {children}
          </p>
        )}
        <p className="banner-problem" role="status">
          {grantState.kind === 'failed' ? grantState.message : ''}
        </p>
      </div>
      {stop.action !== null && <Action {...props} action={stop.action} />}
    </section>
  );
}

/** Whether to show the developer's text: no button helps, so something has to change. */
const isForDevelopers = ({ kind, developerText }: ExplanationAction): boolean =>
  (kind === 'change' || kind === 'ask_operator') && developerText !== '';

const sending: Readonly<Record<Exclude<StopAction['kind'], 'message'>, string>> = {
  grant: 'Continuing…',
  resume: 'Resuming…',
  retry: 'Retrying…',
};

interface ActionProps extends StopBannerProps {
  readonly action: StopAction;
}

function Action({
  action,
  grantState,
  onGrant,
  onResume,
  onNewMessage,
}: ActionProps): ReactElement {
  const isSending = grantState.kind === 'sending';
  if (action.kind === 'message')
    return (
      <div className="banner-action">
        <button type="button" className="button" onClick={onNewMessage}>
          {action.label}
        </button>
      </div>
    );
  const act = (): void => (action.kind === 'grant' ? onGrant(action.grant) : onResume());
  return (
    <div className="banner-action">
      <button
        type="button"
        className="button button-primary"
        data-key="grant"
        // not `disabled`, which would move the focus to the start of the page
        aria-disabled={isSending || undefined}
        onClick={isSending ? undefined : act}
      >
        <Glyph name="go" size={14} />
        {isSending ? sending[action.kind] : action.label}
      </button>
      <kbd aria-hidden="true">G G</kbd>
    </div>
  );
}

function GrantedLine({
  state,
}: {
  readonly state: Extract<GrantState, { kind: 'granted' }>;
}): ReactElement {
  return (
    <p className="banner-granted" role="status">
      <Glyph name="go" size={14} />
      <time dateTime={state.at}>{state.text}</time>
    </p>
  );
}
