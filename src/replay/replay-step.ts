import type { AgentState } from '../agent/agent-state.ts';
import type { AgentStep } from '../agent/agent-step.ts';
import { decide } from '../agent/decide.ts';
import { landingOf } from '../agent/landing-of.ts';
import { msOf } from '../clock.ts';
import { factsOf } from '../continuation/facts-of.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import { contextOf } from '../continuation/retry-account.ts';
import { isAnswered, type StopRequest } from '../continuation/run-view.ts';
import { fallsBack } from '../errors/fallback-rule.ts';
import { isReasoned } from './recorded-execution.ts';
import type { ReplayedState } from './replayed-state.ts';
import type { Judges } from './replay-policy.ts';

/** Why a replayed step differs. */
export type ReplayDifference =
  /** The criteria decide otherwise. */
  | 'decision'
  /** The step would have been, or would not have been, the last one without tools. */
  | 'soft_landing'
  /** The time limit would have interrupted the step. */
  | 'interrupted'
  /** The run would have continued with another model, or with the same one. */
  | 'fallback';

/** A recorded step, judged again. */
export interface JudgedStep {
  /** The state with the step, for the next one. */
  readonly state: AgentState;
  /** Null where only a new answer of the model could decide. */
  readonly outcome: ContinuationOutcome | null;
  readonly difference: ReplayDifference | null;
}

/** Judges a recorded step by the criteria. `recorded` are those that judged it; it is the same object without changes. */
export function judgeStep(
  at: ReplayedState,
  step: AgentStep,
  judges: Judges,
  recorded: Judges,
): JudgedStep {
  const isChanged = judges !== recorded;
  at.startRuns(step, step.startedAt);
  const landing = isChanged ? landingChange(at.state, step, judges, recorded) : null;
  at.startRuns(step);
  if (landing === 'none')
    return { state: at.with(step, judges), outcome: null, difference: 'soft_landing' };
  const model = isChanged ? fallbackChange(at, landing?.step ?? step, judges) : null;
  const time = isChanged ? timeChange(at, step, judges, recorded) : null;
  if (time === 'none')
    return { state: at.with(step, judges), outcome: null, difference: 'interrupted' };
  const judged = time?.step ?? model?.step ?? landing?.step ?? step;
  // as in the loop, criteria see the step without its outcome
  const entry: { -readonly [K in keyof AgentStep]: AgentStep[K] } = { ...judged, outcome: null };
  const state = at.with(entry, judges);
  const { criteria, landingReserve: reserve, deps } = judges;
  const request = requestIn(at, step);
  const isCancelled = time ? time.isLate : isDeadline(step);
  const now = time?.now ?? endOf(step);
  const judge = (by: typeof criteria) =>
    decide(by, state, { request, isCancelled }, { now, reserve, deps });
  const decided = judge(criteria);
  const outcome = decided.isForced ? decided.outcome : withinFamily(step, decided.outcome);
  entry.outcome = outcome;
  // a decision without its reasons is compared with what the recorded policy says without them
  const isKnown = isReasoned(step);
  const said = isKnown ? step.outcome : isChanged ? judge(recorded.criteria).outcome : outcome;
  const difference =
    landing === null && model === null && !time?.isLate
      ? isSame(outcome, said)
        ? null
        : 'decision'
      : time?.isLate
        ? 'interrupted'
        : landing
          ? 'soft_landing'
          : 'fallback';
  const isTaken = !isKnown && difference === null;
  return { state: decided.state, outcome: (isTaken && step.outcome) || outcome, difference };
}

/** Whether two outcomes are the same decision for the same reason. */
const isSame = (
  a: Pick<ContinuationOutcome, 'shouldContinue' | 'decision' | 'resolvedBy' | 'stopReason'>,
  b: typeof a | null,
): boolean =>
  b !== null &&
  a.shouldContinue === b.shouldContinue &&
  a.decision === b.decision &&
  a.resolvedBy === b.resolvedBy &&
  a.stopReason === b.stopReason;

/** The latest time that can be written. */
const MOST_MS = 8_640_000_000_000_000;

/** The time at which a step was judged. */
function endOf({ outcome, startedAt, durationMs }: AgentStep): number {
  const at = outcome?.at === undefined ? Number.NaN : msOf(outcome.at);
  return Number.isFinite(at) ? at : Math.min(msOf(startedAt) + durationMs, MOST_MS);
}

/** The request of a user or a tool that the step was judged with. */
function requestIn(at: ReplayedState, { outcome }: AgentStep): StopRequest | null {
  const said = outcome?.evaluationFor('StopRequestCheck');
  const facts = said?.decision === 'forbid' ? factsOf(said) : null;
  if (facts?.kind !== 'stop_request' || facts.source === 'deadline') return null;
  const { source: by, reason, toolName } = facts;
  return at.requestBy(by) ?? { by, reason, ...(toolName !== undefined && { toolName }) };
}

/** Whether the deadline cancelled the run: a user who did has left a request. */
function isDeadline({ type, outcome }: AgentStep): boolean {
  const said = outcome?.evaluationFor('StopRequestCheck');
  const facts = said?.decision === 'forbid' ? factsOf(said) : null;
  if (facts?.kind === 'stop_request') return facts.source === 'deadline';
  return type === 'cut' && objectionsIn(outcome).length === 0;
}

/** What the limits of a parent said, which are not those of this agent. */
const objectionsIn = (outcome: ContinuationOutcome | null) =>
  (outcome?.evaluations ?? []).filter(({ context }) => context['scope'] === 'family');

function withinFamily({ outcome: recorded }: AgentStep, outcome: ContinuationOutcome) {
  const objections = objectionsIn(recorded);
  if (!outcome.shouldContinue || objections.length === 0) return outcome;
  return ContinuationOutcome.resolve([...objections, ...outcome.evaluations], outcome.at);
}

/** How the step begins if it lands for another limit; null if nothing changes. */
function landingChange(
  state: AgentState,
  step: AgentStep,
  judges: Judges,
  recorded: Judges,
): { readonly step: AgentStep } | 'none' | null {
  if (recorded.landingReserve === null) return null;
  const beganAt = msOf(step.startedAt);
  const now = landingOf(judges, state, beganAt, judges.deps);
  if (now === landingOf(recorded, state, beganAt, judges.deps)) return null;
  if (now === null) return 'none';
  const { softLanding: was, ...rest } = step;
  const answered = { type: 'final', toolCalls: [], results: [], errors: [] } as const;
  return {
    step: { ...rest, softLanding: now, ...(was === undefined && isAnswered(step) && answered) },
  };
}

/** How the step ends if another policy falls back where the recorded one did not, or the reverse. */
function fallbackChange(
  at: ReplayedState,
  step: AgentStep,
  judges: Judges,
): { readonly step: AgentStep } | null {
  const [failure] = step.errors;
  const { errorPolicy, models } = judges;
  if (step.type !== 'error' || !failure || !errorPolicy || models.length < 2) return null;
  const { execution } = at.booked(step, judges);
  const policy = errorPolicy.withMoreRetries(execution.grants.retries ?? 0);
  const context = contextOf(failure, step, execution, execution.totalFailures, policy);
  const falls = fallsBack(failure, policy.evaluate(context));
  const given = step.failedModels?.some(({ model }) => model === step.model) === true;
  if (falls === given) return null;
  const { fallback: _, failedModels = [], ...rest } = step;
  if (!falls) return { step: rest };
  const { code, message, retryable } = failure;
  const all = [...failedModels, { model: step.model ?? '', code, message, retryable }];
  const next = models.find((id) => !all.some(({ model }) => model === id));
  return { step: { ...rest, failedModels: all, ...(next !== undefined && { fallback: next }) } };
}

/** What another time limit does to the step: interrupts it, or does not. `none`: it would have worked on. */
function timeChange(
  at: ReplayedState,
  step: AgentStep,
  judges: Judges,
  recorded: Judges,
): { readonly step: AgentStep; readonly now: number; readonly isLate: boolean } | 'none' | null {
  const end = endOf(step);
  const began = msOf(step.startedAt) - (step.waitedMs ?? 0);
  const resumed = at.run?.afterStep === step.number - 1 ? msOf(at.run.at) : began;
  const from = Math.max(began, resumed);
  // working time of the step before a pause
  const workedMs = Math.max(0, step.durationMs + (step.waitedMs ?? 0) - (end - from));
  const { execution } = at.state;
  const cumulativeSeconds = execution.cumulativeSeconds + workedMs / 1000;
  const state = at.state.with({ execution: { ...execution, cumulativeSeconds } });
  const left = judges.criteria.remainingMs(state, from, judges.deps);
  const before = recorded.criteria.remainingMs(state, from, judges.deps);
  if (left === before) return null;
  if (left > before && isDeadline(step))
    return step.type === 'cut' ? 'none' : { step, now: end, isLate: false };
  if (left > before) return null;
  if (end - from < left) return null;
  const durationMs = Math.max(0, workedMs + left - (step.waitedMs ?? 0));
  return {
    step: { ...step, type: 'cut', durationMs },
    now: from + Math.max(0, left),
    isLate: true,
  };
}
