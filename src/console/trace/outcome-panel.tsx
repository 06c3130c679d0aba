import type { ReactElement } from 'react';
import { decisiveEvaluation } from '../../trace/evaluations.ts';
import type { StopSentence, Trace } from '../../trace/trace.ts';
import type { TraceViewProps } from '../contract.ts';
import { StopBanner } from '../stop-banner.tsx';
import { meterOf, meterTexts } from './limit-meter.ts';
import { MeterView } from './meter-view.tsx';
import type { TraceRow } from './trace-rows.ts';

/** Renders why the run stopped or waits at its last step, with the button that continues it. */
export function OutcomePanel({
  row,
  view,
}: {
  readonly row: TraceRow;
  readonly view: TraceViewProps;
}): ReactElement | null {
  const { stop, status } = view.trace;
  const { outcome } = row;
  if (!stop) return null;
  const decisive = outcome ? decisiveEvaluation(outcome) : undefined;
  const meter = decisive ? meterOf(decisive) : null;
  const [used, limit] = meter ? meterTexts(meter) : ['', ''];
  return (
    <div className="outcome-panel" data-says={outcome?.decision ?? 'open'}>
      <StopBanner
        stop={answerable(stop, status)}
        status={status}
        reason={null}
        resolvedBy={outcome?.resolvedBy ?? null}
        grantState={view.grantState}
        onGrant={view.onGrant}
        onResume={view.onResume}
        onNewMessage={view.onNewMessage}
        meter={
          meter?.tone === 'full' ? (
            <p className="decision-meter">
              <MeterView {...meter} />
              <b>{used}</b> of {limit}
            </p>
          ) : null
        }
      />
    </div>
  );
}

/** Adds a link to the chat, where the user answers approvals. */
const answerable = (stop: StopSentence, status: Trace['status']): StopSentence =>
  status === 'paused' && stop.action === null
    ? { ...stop, action: { kind: 'message', label: 'Answer in the chat' } }
    : stop;
