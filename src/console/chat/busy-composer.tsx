import { useEffect, useState, type ReactElement } from 'react';
import type { Trace } from '../../trace/trace.ts';
import { Composer, type ComposerProps } from '../../react/composer.tsx';
import { elapsedText } from './times.ts';

export interface BusyComposerProps extends Omit<ComposerProps, 'note' | 'sendLabel'> {
  readonly isBusy: boolean;
  /** Of the run at work; null before it is known. */
  readonly trace: Trace | null;
  /** Steps that are done. */
  readonly stepCount: number;
  readonly maxSteps: number | null;
  /** When the run began, for as long as the trace does not know how long it worked. */
  readonly since: string | null;
}

/** Says how long it has worked and how far it is. Ticks here, so that nothing else is drawn each second. */
export function BusyComposer(props: BusyComposerProps): ReactElement {
  const { trace, stepCount, maxSteps, since, isBusy, ...own } = props;
  const [now, setNow] = useState(() => performance.now());
  // the working time as it was told, and when: pauses are not part of it
  const [told, setTold] = useState({ trace, at: now });
  if (told.trace !== trace) setTold({ trace, at: performance.now() });
  useEffect(() => {
    if (!isBusy) return;
    setNow(performance.now());
    const timer = setInterval(() => setNow(performance.now()), 1_000);
    return () => clearInterval(timer);
  }, [isBusy]);
  if (!isBusy) return <Composer {...own} />;
  const worked = trace ? trace.totals.seconds.used * 1000 + Math.max(0, now - told.at) : null;
  const elapsed = worked ?? (since === null ? null : Math.max(0, Date.now() - Date.parse(since)));
  const limit = trace?.totals.steps.limit ?? maxSteps;
  // failed calls of the model have numbers too, but the limit does not count them
  const step = (trace?.totals.steps.used ?? stepCount) + 1;
  const place = limit === null ? `step ${step}` : `step ${Math.min(step, limit)} of ${limit}`;
  const note = elapsed === null ? place : `${elapsedText(elapsed)} · ${place}`;
  return <Composer {...own} note={note} sendLabel="Queue" />;
}
