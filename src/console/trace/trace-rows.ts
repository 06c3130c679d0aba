import { isBlocked } from '../../agent/guard.ts';
import type { Trace, TraceStep } from '../../trace/trace.ts';

/** A row of the timeline. Row 0 is an outcome before the first step. */
export interface TraceRow {
  readonly number: number;
  readonly step: TraceStep | null;
  readonly outcome: TraceStep['outcome'];
  /** Whether this is the last row so far: its sentence and button are shown here. */
  readonly isLast: boolean;
}

export function rowsOf(trace: Trace): readonly TraceRow[] {
  const { steps, outcome, status } = trace;
  if (steps.length === 0)
    return outcome === null ? [] : [{ number: 0, step: null, outcome, isLast: true }];
  const last = steps.length - 1;
  return steps.map((step, i) => ({
    number: step.number,
    step,
    // a run that was stopped while it waited has its outcome next to the steps
    outcome:
      step.outcome ??
      (i === last && status !== 'processing' && status !== 'paused' ? outcome : null),
    isLast: i === last,
  }));
}

export type RowTag =
  | 'running'
  | 'waiting'
  | 'failed call'
  | 'interrupted'
  | 'blocked'
  | 'soft landing'
  | `attempt ${number}`;

/** Returns what is special about a step, in a word or two. */
export function tagsOf(step: TraceStep): readonly RowTag[] {
  const tags: RowTag[] = [];
  if (step.type === 'running' || step.type === 'waiting') tags.push(step.type);
  if (step.type === 'error') tags.push('failed call');
  if (step.type === 'cut') tags.push(isBlocked(step) ? 'blocked' : 'interrupted');
  if (step.softLanding !== null) tags.push('soft landing');
  if (step.attempt > 1 && step.type !== 'error') tags.push(`attempt ${step.attempt}`);
  return tags;
}

/** Extends the running step and the working time between two documents. */
export function grown(trace: Trace, byMs: number): Trace {
  const last = trace.steps.at(-1);
  if (byMs <= 0 || last?.type !== 'running') return trace;
  const isRunning = (state: string): boolean => state === 'running';
  const step: TraceStep = {
    ...last,
    durationMs: last.durationMs + byMs,
    bars: last.bars.map((bar) =>
      isRunning(bar.state) ? { ...bar, durationMs: bar.durationMs + byMs } : bar,
    ),
  };
  const { seconds } = trace.totals;
  return {
    ...trace,
    steps: [...trace.steps.slice(0, -1), step],
    totals: { ...trace.totals, seconds: { ...seconds, used: seconds.used + byMs / 1000 } },
  };
}
