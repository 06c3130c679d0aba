import type { AgentStep } from '../agent/agent-step.ts';
import { isoTime, msOf } from '../clock.ts';
import { addCost } from '../inference/usage.ts';
import type { ContinuationOutcome } from '../continuation/outcome.ts';
import { checkReplayOptions } from './check-replay-options.ts';
import { totalsGap, gapsOf, type ReplayGap } from './replay-gaps.ts';
import {
  assumedPolicy,
  judgesOf,
  type Cursor,
  type Judges,
  type PolicyInUse,
} from './replay-policy.ts';
import { limitsIn, type ReplayLimits, type ReplayOptions } from './replay-options.ts';
import { judgeStep, type JudgedStep, type ReplayDifference } from './replay-step.ts';
import { ReplayedState } from './replayed-state.ts';
import {
  isReasoned,
  recordedExecution,
  type Recorded,
  type RecordedExecution,
} from './recorded-execution.ts';

/** One recorded step, and what the criteria of the replay decide about it. */
export interface ReplayedStep {
  readonly number: number;
  /** Null in broken records. */
  readonly recorded: ContinuationOutcome | null;
  /** Null behind the first difference, and where only a new answer of the model could decide. */
  readonly replayed: ContinuationOutcome | null;
}

/** What the execution would not have used. */
export interface ReplaySavings {
  readonly steps: number;
  readonly tokens: number;
  /** Null if the price is unknown. */
  readonly cost: number | null;
  readonly seconds: number;
}

/**
 * What would change. `same`: nothing. `earlier`: it stops earlier. `cut_short`: it stops before the answer that it had
 * finished with. `further`: it continues where it stopped. `other`: it stops, or continues, for another reason.
 */
export type ReplayChange = 'same' | 'earlier' | 'cut_short' | 'further' | 'other';

/** An execution judged again, without a model. */
export interface ReplayResult {
  readonly executionId: string;
  readonly change: ReplayChange;
  readonly steps: readonly ReplayedStep[];
  /** Number of the first step that differs; null if none does. What follows it is not known. */
  readonly firstDifference: number | null;
  /** How that step differs. */
  readonly difference: ReplayDifference | null;
  /** Number of the step behind which the replay stops; null if it stops at no recorded step. */
  readonly stopsAt: number | null;
  readonly saved: ReplaySavings;
  /** The limits that the execution began with; null: none. */
  readonly recordedLimits: Required<ReplayLimits>;
  /** What the record lacks for an exact replay; empty if it is exact. */
  readonly incomplete: readonly ReplayGap[];
}

/**
 * Judges a recorded execution again: its steps, with other limits, another error policy or other criteria. Calls no
 * model and no tool. Without changes it repeats the recorded decisions.
 */
export function replay(recorded: Recorded, options: ReplayOptions = {}): ReplayResult {
  checkReplayOptions(options);
  const execution = recordedExecution(recorded, options.executionId);
  const replaying = new Replaying(execution, options);
  for (const step of execution.steps) if (!replaying.take(step)) break;
  return replaying.result();
}

/** A replay that takes one step after the other, so that callers can pause in between. */
export class Replaying {
  readonly #recorded: RecordedExecution;
  readonly #options: ReplayOptions;
  readonly #isChanged: boolean;
  readonly #cursor: Cursor = { step: null };
  readonly #at: ReplayedState;
  readonly #gaps: ReplayGap[];
  readonly #outcomes: ReplayedStep['replayed'][] = [];
  #policy: PolicyInUse | null = null;
  #recordedLimits: Required<ReplayLimits> = limitsIn({});
  #judges: { readonly changed: Judges; readonly recorded: Judges } | null = null;
  #end: { readonly step: AgentStep; readonly judged: JudgedStep } | null = null;

  constructor(recorded: RecordedExecution, options: ReplayOptions) {
    const { limits, errorPolicy, criteria } = options;
    this.#recorded = recorded;
    this.#options = options;
    this.#isChanged = [limits, errorPolicy, criteria].some((one) => one !== undefined);
    this.#at = new ReplayedState(recorded, criteria !== undefined);
    this.#gaps = [...gapsOf(recorded, options)];
  }

  /** Judges the next step. Returns false at the first difference, behind which nothing is known. */
  take(recordedStep: AgentStep): boolean {
    const step = withStart(recordedStep, this.#recorded.execution.startedAt);
    const { changed, recorded } = this.#judgesFor(step);
    this.#cursor.step = step;
    const judged = judgeStep(this.#at, step, changed, recorded);
    this.#outcomes.push(judged.outcome);
    this.#at.advance(judged.state, step);
    if (judged.difference === null) return true;
    this.#end = { step, judged };
    return false;
  }

  #judgesFor(step: AgentStep): { readonly changed: Judges; readonly recorded: Judges } {
    const isNew = step.policy !== undefined || this.#policy === null;
    if (this.#judges && !isNew) return this.#judges;
    const isFirst = this.#policy === null;
    this.#policy = step.policy ?? assumedPolicy(this.#reasoned(step));
    if (isFirst) this.#recordedLimits = limitsIn(this.#policy.limits);
    const recorded = judgesOf(this.#policy, { deps: this.#options.deps ?? {} }, this.#cursor);
    const changed = this.#isChanged
      ? judgesOf(this.#policy, this.#options, this.#cursor)
      : recorded;
    return (this.#judges = { changed, recorded });
  }

  /** The step itself, or the next one that says why it was the last one or not. */
  #reasoned(step: AgentStep): AgentStep {
    if (isReasoned(step)) return step;
    return this.#recorded.steps.find((one) => isReasoned(one)) ?? step;
  }

  result(): ReplayResult {
    const { steps, execution } = this.#recorded;
    const end = this.#end;
    const last = steps.at(-1);
    const outcome = end ? end.judged.outcome : (last?.outcome ?? null);
    const stopsAt = outcome?.shouldContinue === false ? (end?.step ?? last)?.number : undefined;
    const totals = end ? null : totalsGap(this.#recorded, this.#at.totals());
    return {
      executionId: execution.id,
      change: this.#change(),
      steps: steps.map(({ number, outcome: was }, i) => ({
        number,
        recorded: was,
        replayed: this.#outcomes[i] ?? null,
      })),
      firstDifference: end?.step.number ?? null,
      difference: end?.judged.difference ?? null,
      stopsAt: stopsAt ?? null,
      saved: end && stopsAt !== undefined ? usageAfter(steps, stopsAt) : nothing,
      recordedLimits: this.#recordedLimits,
      incomplete: totals ? [...this.#gaps, totals] : this.#gaps,
    };
  }

  #change(): ReplayChange {
    if (this.#end === null) return 'same';
    const { step, judged } = this.#end;
    const last = this.#recorded.steps.at(-1);
    const isStop = judged.outcome?.shouldContinue === false;
    const wasStop = step.outcome?.shouldContinue === false;
    if (!isStop) return wasStop || judged.outcome === null ? 'further' : 'other';
    const isAnswer = judged.outcome?.stopReason === 'completed';
    if (!isAnswer && last?.outcome?.stopReason === 'completed') return 'cut_short';
    return step !== last || !wasStop ? 'earlier' : 'other';
  }
}

/** Gives a step a start if its record has none that can be read. */
function withStart(step: AgentStep, startedAt: string | null): AgentStep {
  if (Number.isFinite(msOf(step.startedAt))) return step;
  const known = startedAt !== null && Number.isFinite(msOf(startedAt));
  return { ...step, startedAt: known ? startedAt : isoTime(0) };
}

const nothing: ReplaySavings = { steps: 0, tokens: 0, cost: 0, seconds: 0 };

/** Sums what the steps after a number have used. */
export function usageAfter(steps: readonly AgentStep[], stopsAt: number): ReplaySavings {
  let saved = nothing;
  for (const { number, usage, cost, durationMs, waitedMs = 0 } of steps)
    if (number > stopsAt)
      saved = {
        steps: saved.steps + 1,
        tokens: saved.tokens + usage.total,
        cost: addCost(saved.cost, cost),
        seconds: saved.seconds + (durationMs + waitedMs) / 1000,
      };
  return { ...saved, seconds: Math.round(saved.seconds * 1e6) / 1e6 };
}
