import type { ReactElement } from 'react';
import { explainOutcome } from '../../continuation/explain-outcome.ts';
import type { ContinuationOutcomeJSON } from '../../continuation/outcome.ts';
import type { StopSentence, Trace } from '../../trace/trace.ts';
import type { TraceViewProps } from '../contract.ts';
import { Glyph, type GlyphName } from '../glyphs.tsx';
import { StopBanner } from '../stop-banner.tsx';
import type { TraceRow } from './trace-rows.ts';

/** Renders the outcome: the banner with its button at the last step, a sentence elsewhere. */
export function OutcomePanel({
  row,
  view,
}: {
  readonly row: TraceRow;
  readonly view: TraceViewProps;
}): ReactElement | null {
  const { trace } = view;
  const says = row.outcome?.decision ?? 'open';
  if (row.isLast && trace.stop)
    return (
      <div className="outcome-panel" data-says={says}>
        <StopBanner
          stop={answerable(trace.stop, trace.status)}
          status={trace.status}
          reason={row.outcome?.stopReason ?? null}
          resolvedBy={row.outcome?.resolvedBy ?? null}
          grantState={view.grantState}
          onGrant={view.onGrant}
          onResume={view.onResume}
          onNewMessage={view.onNewMessage}
        />
      </div>
    );
  if (!row.outcome) return null;
  return (
    <div className="outcome-panel" data-says={says}>
      <Sentence outcome={row.outcome} />
    </div>
  );
}

/** Adds a link to the chat, where the user answers approvals. */
const answerable = (stop: StopSentence, status: Trace['status']): StopSentence =>
  status === 'paused' && stop.action === null
    ? { ...stop, action: { kind: 'message', label: 'Answer in the chat' } }
    : stop;

function Sentence({ outcome }: { readonly outcome: ContinuationOutcomeJSON }): ReactElement {
  const { headline } = explainOutcome(outcome);
  if (outcome.shouldContinue)
    return (
      <Said glyph="request" tone="went">
        <p>
          <b>{headline}</b>
        </p>
        <p className="banner-meta">
          <span>
            decided by <code>{outcome.resolvedBy}</code>
          </span>
        </p>
      </Said>
    );
  // a grant has continued it
  return (
    <Said glyph="stopped" tone="neutral">
      <p>
        <b>{headline}</b> More was allowed, and it continued with the next step.
      </p>
      <p className="banner-meta">
        <code>{outcome.stopReason}</code>
        <span>
          decided by <code>{outcome.resolvedBy}</code>
        </span>
      </p>
    </Said>
  );
}

function Said({
  glyph,
  tone,
  children,
}: {
  readonly glyph: GlyphName;
  readonly tone: string;
  readonly children: ReactElement[];
}): ReactElement {
  return (
    <section className="banner" data-tone={tone} aria-label="Decision">
      <span className="banner-glyph">
        <Glyph name={glyph} />
      </span>
      <div className="banner-words">{children}</div>
    </section>
  );
}
