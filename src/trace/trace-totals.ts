import { isAnswered } from '../continuation/run-view.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import { addCost } from '../inference/usage.ts';
import type { RunLog } from './run-log.ts';
import type { TraceRecords } from './trace-of.ts';
import { pausedMsOf } from './trace-pauses.ts';
import type { TraceBar, TraceStep, TraceTotals } from './trace.ts';
import { numberIn, evaluationOf } from './evaluations.ts';

interface TotalsInput {
  readonly records: TraceRecords;
  readonly log: RunLog;
  readonly shown: readonly TraceStep[];
  /** The newest outcome: its evaluations have the limits, grants included. */
  readonly outcome: ContinuationOutcomeJSON | null;
  readonly isOpen: boolean;
}

/** Computes what the execution has used, and how the time of the visible steps was spent. */
export function traceTotals({ records, log, shown, outcome, isOpen }: TotalsInput): TraceTotals {
  const { session, accounts, now, executionId, stepAfter } = records;
  const used = accounts ?? counted(records);
  const isCurrent = executionId === session.executionId && !stepAfter;
  const last = shown.at(-1);
  const axis = last ? (last.at + last.durationMs) / 1000 : 0;
  // the usage of the current step is not in the totals yet
  const seconds = isOpen ? Math.max(used.cumulativeSeconds, axis) : used.cumulativeSeconds;
  const cuts = records.steps.filter(({ type }) => type === 'cut').length;
  const bars = shown.flatMap((step) => step.bars);
  const queuedMs = sum(shown.map(({ modelCall }) => modelCall?.queuedMs ?? 0));
  return {
    steps: { used: used.answeredSteps, limit: limitOf(outcome, 'StepsLimit') },
    seconds: { used: seconds, limit: secondsLimit(outcome, records) },
    tokens: { used: used.usage.total, limit: limitOf(outcome, 'TokenUsageLimit') },
    cost: { used: used.cost, limit: limitOf(outcome, 'CostLimit') },
    inputTokens: used.usage.input,
    outputTokens: used.usage.output,
    failedCalls: Math.max(0, used.stepCount - used.answeredSteps - cuts),
    modelMs: sum(bars.filter(({ kind }) => kind === 'model').map(({ durationMs }) => durationMs)),
    toolMs: sum(shown.map(({ bars: all }) => covered(all.filter(({ kind }) => kind === 'tool')))),
    backoffMs: sum(shown.map(({ waitMs }) => waitMs)),
    ...(queuedMs > 0 && { queuedMs }),
    pausedMs: pausedMsOf(log, shown, isCurrent ? session : null, now),
  };
}

/** Counts the available steps if there are no stored totals. */
function counted({ steps }: TraceRecords) {
  const total = (of: (step: TraceRecords['steps'][number]) => number): number => sum(steps.map(of));
  return {
    stepCount: steps.length,
    answeredSteps: steps.filter(isAnswered).length,
    usage: {
      input: total(({ usage }) => usage.input),
      output: total(({ usage }) => usage.output),
      total: total(({ usage }) => usage.total),
    },
    cost: steps.reduce<number | null>((cost, step) => addCost(cost, step.cost), 0),
    cumulativeSeconds: total(({ durationMs, waitedMs = 0 }) => durationMs + waitedMs) / 1000,
  };
}

const limitOf = (outcome: ContinuationOutcomeJSON | null, criterion: string): number | null =>
  numberIn(evaluationOf(outcome, criterion), 'limit');

/**
 * Returns the time limit. A run's wall clock restarts with every resume, so its limit applies to the working time
 * only without a resume.
 */
function secondsLimit(
  outcome: ContinuationOutcomeJSON | null,
  { accountsAfter, accounts }: TraceRecords,
): number | null {
  const ofWork = limitOf(outcome, 'CumulativeExecutionTimeLimit');
  if (ofWork !== null) return ofWork;
  const wall = evaluationOf(outcome, 'ExecutionTimeLimit');
  const worked = (accountsAfter ?? accounts)?.cumulativeSeconds ?? 0;
  const isWhole = (numberIn(wall, 'used') ?? 0) >= worked - ROUNDING_SECONDS;
  return isWhole ? numberIn(wall, 'limit') : null;
}

/** Tolerance, because start times have whole milliseconds. */
const ROUNDING_SECONDS = 0.01;

/** Adds up times; concurrent calls count once. */
function covered(bars: readonly TraceBar[]): number {
  let ms = 0;
  let end = Number.NEGATIVE_INFINITY;
  for (const { at, durationMs } of bars.toSorted((a, b) => a.at - b.at)) {
    ms += Math.max(0, at + durationMs - Math.max(at, end));
    end = Math.max(end, at + durationMs);
  }
  return ms;
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
