import type { ReactElement } from 'react';
import { statusGlyphs } from '../react/glyph.tsx';
import { Glyph } from './glyphs.tsx';
import type { GrantState, StopBannerProps } from './contract.ts';
import type { StopAction } from '../trace/trace.ts';

/** Stopped is neutral, failed has the wash of a forbid, an end that nobody has to mend is quiet. */
const tones: Readonly<Record<StopBannerProps['status'], string>> = {
  idle: 'quiet',
  processing: 'neutral',
  paused: 'waiting',
  completed: 'done',
  stopped: 'neutral',
  failed: 'failed',
  cancelled: 'quiet',
};

/** Why it stands still and what would let it go on, with the button that does exactly that. */
export function StopBanner(props: StopBannerProps): ReactElement {
  const { stop, status, reason, resolvedBy, grantState, children } = props;
  if (grantState.kind === 'granted') return <GrantedLine state={grantState} />;
  return (
    <section className="banner" data-tone={tones[status]} aria-label="Why it stands still">
      <span className="banner-glyph">
        <Glyph name={statusGlyphs[status]} />
      </span>
      <div className="banner-words">
        <p className="banner-sentence">
          <b>{stop.lead}</b> {stop.because}
          {stop.goOnIf === null ? (
            '.'
          ) : (
            <>
              {' '}
              <span className="banner-dash">—</span> <b>it would go on if</b> {stop.goOnIf}.
            </>
          )}
        </p>
        {stop.note !== null && <p className="banner-note">{stop.note}</p>}
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

const sending: Readonly<Record<Exclude<StopAction['kind'], 'message'>, string>> = {
  grant: 'Granting…',
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
        // not `disabled`, which would throw the focus back to the start of the page
        aria-disabled={isSending || undefined}
        onClick={isSending ? undefined : act}
      >
        <Glyph name="go" size={14} />
        {isSending ? sending[action.kind] : action.label}
      </button>
      <kbd aria-hidden="true">G</kbd>
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
