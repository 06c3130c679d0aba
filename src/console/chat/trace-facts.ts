import type { Trace, TraceBar, TraceStep } from '../../trace/trace.ts';
import { eventId, eventRow } from '../../ui/event-row.ts';
import type { UiEvent, UiMessage } from '../../ui/ui-message.ts';

/** Trace facts of one call. */
export interface CallFact {
  readonly step: number;
  readonly bar: TraceBar;
}

/** A failed model call, as the record will name it when the run has ended. */
export interface ModelFailure {
  readonly step: number;
  readonly row: UiMessage;
}

/** Trace facts of one turn. */
export interface TurnFacts {
  readonly calls: ReadonlyMap<string, CallFact>;
  readonly failures: readonly ModelFailure[];
  /** Numbers of steps that ended with text only, in order. */
  readonly answers: readonly number[];
}

export const noFacts: TurnFacts = { calls: new Map(), failures: [], answers: [] };

export function factsOf({ steps, executionId }: Trace): TurnFacts {
  const calls = new Map<string, CallFact>();
  const failures: ModelFailure[] = [];
  const answers: number[] = [];
  for (const step of steps) {
    const { number, type, bars } = step;
    for (const bar of bars) if (bar.callId !== null) calls.set(bar.callId, { step: number, bar });
    if (type === 'error') failures.push({ step: number, row: failureRow(step, executionId ?? '') });
    else if (!bars.some(({ kind }) => kind === 'tool')) answers.push(number);
  }
  return { calls, failures, answers };
}

function failureRow(step: TraceStep, executionId: string): UiMessage {
  const { number, attempt, bars, notes, waitMs, outcome, startedAt: timestamp, fallback } = step;
  const model = bars.find(({ kind }) => kind === 'model');
  const code = model?.state === 'timeout' ? 'timeout' : errorTypeOf(step);
  const event: UiEvent =
    fallback === undefined
      ? {
          kind: 'failed_call',
          step: number,
          attempt,
          code,
          error: model?.error ?? notes[0] ?? '',
          wait_ms: waitMs,
          will_retry: outcome?.shouldContinue ?? true,
        }
      : { kind: 'fallback', step: number, from: step.model ?? '', to: fallback, code };
  const id = event.kind === 'fallback' ? eventId.fallback : eventId.failedCall;
  return eventRow({ id: id(executionId, number), timestamp, event });
}

/** Returns the recorded code or type of the error, such as `rate_limit`; '' if there is none. */
function errorTypeOf({ outcome }: TraceStep): string {
  const context = outcome?.evaluations.find(
    ({ criterion }) => criterion === 'ErrorPolicyCriterion',
  )?.context;
  const found = context?.['errorCode'] ?? context?.['errorType'];
  return typeof found === 'string' ? found : '';
}
