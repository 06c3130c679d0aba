import type { StopReason } from '../../continuation/stop-reason.ts';
import { shortText } from '../call-text.ts';
import type { EvalRun } from '../eval-run.ts';
import { fail, pass, type Scorer } from '../score.ts';

/** Why a run is over, or `paused`. */
export type EndReason = StopReason | 'paused';

export const endOf = ({ stopReason, status }: Pick<EvalRun, 'stopReason' | 'status'>): string =>
  stopReason ?? status;

/**
 * Passes if the run stopped for one of these reasons; `paused` if it waits. Without a reason it reads
 * `expected.stopReason` of the case, by default `completed`.
 */
export const stoppedBecause = (
  reasons?: EndReason | readonly EndReason[],
  { name = 'stopped_because' }: { readonly name?: string } = {},
): Scorer => ({
  name,
  score({ run, case: { expected } }) {
    const wanted = [reasons ?? expected?.stopReason ?? 'completed'].flat();
    const seen = endOf(run);
    if (wanted.some((reason) => reason === seen)) return pass(seen);
    const last = run.trace.steps.at(-1)?.number;
    return fail(
      `Expected ${wanted.join(' or ')}. It was ${seen}: ${shortText(run.explanation, 600)}`,
      { ...(last !== undefined && { step: last }) },
    );
  },
});
