import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { Execution } from '../agent/execution.ts';
import { msOf } from '../clock.ts';
import { outcomeWithFacts } from '../continuation/with-facts.ts';
import { addCost, minusUsage } from '../inference/usage.ts';
import { stateOf, traceOpenStep, type OpenStep } from './open-step.ts';
import { workedBetween, type RunLog } from './run-log.ts';
import { stepBars } from './step-bars.ts';
import { retriesIn, type StepWithCalls } from './tool-retries.ts';
import type { TraceRecords } from './trace-of.ts';
import type { TraceStep } from './trace.ts';

/** Places the steps on the axis of working time, one after the other. */
export function traceSteps(
  records: TraceRecords,
  log: RunLog,
  open: OpenStep | null,
): readonly TraceStep[] {
  const { session, steps, stepsBefore = [], stepAfter = null, accountsBefore } = records;
  const calls = [...stepsBefore, ...steps, ...(open ? [withCalls(open)] : [])];
  const retries = retriesIn(calls);
  let end = (accountsBefore?.cumulativeSeconds ?? 0) * 1000;
  let costSoFar = accountsBefore ? accountsBefore.cost : 0;
  const isWorking = session.status === 'in_progress' && records.executionId === session.executionId;
  const shown = steps.map((step, i): TraceStep => {
    const at = end + (step.waitedMs ?? 0);
    const next = steps[i + 1] ?? stepAfter;
    end = at + step.durationMs;
    costSoFar = addCost(costSoFar, step.cost);
    return {
      number: step.number,
      attempt: step.attempt,
      ...(step.model !== undefined && { model: step.model }),
      ...(step.fallback !== undefined && { fallback: step.fallback }),
      ...(step.steering && { steering: step.steering }),
      ...(step.compactions && { compactions: step.compactions }),
      ...(step.compactionUsage && { compactionUsage: step.compactionUsage }),
      ...(step.compacts && { compacts: step.compacts }),
      ...(step.guards && { guards: step.guards }),
      ...(step.modelCall && { modelCall: step.modelCall }),
      type: step.type,
      startedAt: step.startedAt,
      at,
      durationMs: step.durationMs,
      bars: stepBars(step, at, log, retries),
      waitMs: next ? (next.waitedMs ?? 0) : isWorking ? waitAfter(step, open, log) : 0,
      inputTokens: step.usage.input,
      outputTokens: step.usage.output,
      modelUsage: step.modelUsage ?? step.usage,
      cost: step.cost,
      costSoFar,
      finishReason: step.finishReason,
      softLanding: step.softLanding ?? null,
      notes: step.notes,
      outcome: step.outcome && outcomeWithFacts(step.outcome),
    };
  });
  if (!open) return shown;
  const used = usedSince(records.accounts, records.accountsAfter ?? null);
  const at = end + (shown.at(-1)?.waitMs ?? 0);
  const context = { at, now: records.now, log, retries, used };
  return [
    ...shown,
    traceOpenStep(open, {
      ...context,
      costSoFar: records.accounts ? records.accounts.cost : costSoFar,
    }),
  ];
}

/** Returns the wait of the newest step: its real duration if the next attempt has started. */
function waitAfter(step: AgentStepJSON, open: OpenStep | null, { gaps }: RunLog): number {
  const { waitMs = 0, durationMs, startedAt } = step;
  if (!open) return waitMs;
  const waited = workedBetween(gaps, msOf(startedAt) + durationMs, msOf(open.startedAt));
  return Math.min(waitMs, waited);
}

/** Returns the usage of the current step: the totals beyond the last finished step. */
function usedSince(
  now: Execution | null,
  before: Execution | null,
): Pick<Execution, 'usage' | 'cost'> | null {
  if (!now || !before) return now && { usage: now.usage, cost: now.cost };
  const { usage, cost } = now;
  return {
    usage: minusUsage(usage, before.usage),
    cost: cost === null || before.cost === null ? null : round(Math.max(0, cost - before.cost)),
  };
}

/** Rounds a difference of sums of fractions. */
const round = (value: number): number => Math.round(value * 1e9) / 1e9;

const withCalls = ({ type, calls }: OpenStep): StepWithCalls => ({
  type,
  outcome: null,
  toolCalls: calls.map(({ id, tool, args }) => ({ id, name: tool, args })),
  results: calls.flatMap(({ id, completed }) =>
    completed ? [{ callId: id, kind: stateOf(completed) }] : [],
  ),
});
