import { bookExecution, bookSession, type Booking, type Execution } from './execution.ts';
import type { Run } from './run.ts';
import { amendRun } from './run-records.ts';
import { bookingOf, workedMs } from './step-account.ts';
import type { StepDraft } from './step-draft.ts';
import { unfinishedStep } from './unfinished-step.ts';

/** Whether something of the step is left to do: a model call that was dropped, or calls that may still run. */
export const isUnfinished = ({ isTruncated, calls }: StepDraft): boolean =>
  isTruncated || calls.length > 0;

/**
 * Leaves an interrupted step to another process. A dropped model call is made again, and only its known usage stays; an
 * answer stays with the results of its calls, and calls without a result stay open.
 */
export function handOverStep(run: Run, draft: StepDraft): void {
  const { state, events } = run;
  const now = run.now();
  const booking = bookingOf(draft, now, null);
  const counted = {
    execution: bookExecution(state.execution, booking),
    info: bookSession(state.info, booking),
  };
  if (draft.calls.length > 0) {
    run.state = state.with({
      ...counted,
      messages: state.messages.append(...draft.takeMessages()),
      unfinishedStep: unfinishedStep(draft, state.execution.id, workedMs(draft, now)),
    });
    return;
  }
  const { execution, info } = counted;
  run.state = state.with({ execution: { ...execution, ...droppedIn(execution, booking) }, info });
  if (draft.hasShown && events.wants('StreamDiscarded'))
    events.emit('StreamDiscarded', { stepNumber: draft.number, attempt: draft.attempt });
}

/** Records what belongs to no step. */
const droppedIn = (
  execution: Execution,
  { usage, cost, seconds, family }: Booking,
): Pick<Execution, 'runs'> =>
  amendRun(execution, {
    dropped: { tokens: usage.total, cost, seconds, ...(family && { family }) },
  });
