import { useEffect, useState, type ReactElement } from 'react';
import type { Trace } from '../../trace/trace.ts';
import { Composer, type ComposerProps } from '../../react/composer.tsx';
import { elapsedText } from './times.ts';

export interface BusyComposerProps extends Omit<ComposerProps, 'note' | 'sendLabel'> {
  readonly isBusy: boolean;
  /** Trace of the current run; null before it is known. */
  readonly trace: Trace | null;
  /** Finished steps. */
  readonly stepCount: number;
  readonly maxSteps: number | null;
  /** Start of the run, while the trace has no working time. */
  readonly since: string | null;
}

/** Shows the working time and the step. The timer is here, so that nothing else renders each second. */
export function BusyComposer(props: BusyComposerProps): ReactElement {
  const { trace, stepCount, maxSteps, since, isBusy, ...own } = props;
  const [now, setNow] = useState(() => performance.now());
  // the reported working time and when it was reported: pauses are not part of it
  const [reported, setReported] = useState({ trace, at: now });
  if (reported.trace !== trace) setReported({ trace, at: performance.now() });
  useEffect(() => {
    if (!isBusy) return;
    setNow(performance.now());
    const timer = setInterval(() => setNow(performance.now()), 1_000);
    return () => clearInterval(timer);
  }, [isBusy]);
  if (!isBusy) return <Composer {...own} />;
  const worked = trace ? trace.totals.seconds.used * 1000 + Math.max(0, now - reported.at) : null;
  const elapsed = worked ?? (since === null ? null : Math.max(0, Date.now() - Date.parse(since)));
  const limit = trace?.totals.steps.limit ?? maxSteps;
  // failed model calls have numbers too, but the limit does not count them
  const step = (trace?.totals.steps.used ?? stepCount) + 1;
  const progress = limit === null ? `step ${step}` : `step ${Math.min(step, limit)} of ${limit}`;
  const note = elapsed === null ? progress : `${elapsedText(elapsed)} · ${progress}`;
  return <Composer {...own} note={note} sendLabel="Queue" />;
}
