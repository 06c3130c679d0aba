import { isoTime, systemClock } from '../clock.ts';
import { invalidOption } from '../errors/agent-error.ts';
import { messageOf } from '../errors/error-record.ts';
import { defaultRedactor, type Redactor } from '../errors/redactor.ts';
import { isRecord } from '../json.ts';
import type { ContinuationCriterion, CriterionContext, LandingReserve } from './criterion.ts';
import { isDecision, type ContinuationDecision } from './decision.ts';
import { ContinuationEvaluation } from './evaluation.ts';
import { factsOf } from './facts-of.ts';
import { ContinuationOutcome } from './outcome.ts';
import { checkRunView, type RunView } from './run-view.ts';
import { forbidOrder, StopReason } from './stop-reason.ts';

/** All criteria of an agent. Always evaluates every one: all of them explain a stop, not only the first. */
export class ContinuationCriteria<S extends RunView = RunView> {
  readonly #criteria: readonly ContinuationCriterion<S, never>[];
  /** Computed once, because every step reads these lists. */
  readonly #isLimit: readonly boolean[];
  readonly #timed: readonly ContinuationCriterion<S, never>[];
  readonly #shared: readonly ContinuationCriterion<S, never>[];

  private constructor(criteria: readonly ContinuationCriterion<S, never>[]) {
    for (const criterion of criteria)
      if (typeof criterion?.evaluate !== 'function' || typeof criterion.name !== 'string')
        throw invalidOption('ContinuationCriteria', criterion, 'criteria of { name, evaluate }');
    this.#criteria = Object.freeze([...criteria]);
    this.#isLimit = criteria.map(({ kind }) => kind === 'limit');
    this.#timed = criteria.filter(({ remainingMs }) => remainingMs !== undefined);
    this.#shared = criteria.filter(({ kind, isOwn }) => kind === 'limit' && isOwn !== true);
  }

  static from<S extends RunView = RunView>(
    ...criteria: readonly ContinuationCriterion<S, never>[]
  ): ContinuationCriteria<S> {
    return new ContinuationCriteria(criteria);
  }

  with(...more: readonly ContinuationCriterion<S, never>[]): ContinuationCriteria<S> {
    return new ContinuationCriteria([...this.#criteria, ...more]);
  }

  get list(): readonly ContinuationCriterion<S, never>[] {
    return this.#criteria;
  }

  /** Evaluates ordinary criteria first, then the limits, which forbid only while work is pending. */
  evaluate(
    state: S,
    {
      now = systemClock.now(),
      redactor = defaultRedactor,
      deps = noDeps,
      reserve = null,
    }: {
      readonly now?: number;
      readonly redactor?: Redactor;
      readonly deps?: object;
      /** The budget that the agent's soft landing reserves. */
      readonly reserve?: LandingReserve | null;
    } = {},
  ): ContinuationOutcome {
    const criteria = this.#criteria;
    const isLimit = this.#isLimit;
    const evaluations = new Array<ContinuationEvaluation>(criteria.length);
    const first = contextOf(state, now, false, deps);
    const { grants } = first;
    let strongest: ContinuationDecision = 'allow';
    for (let i = 0; i < criteria.length; i++) {
      if (isLimit[i]) continue;
      const criterion = criteria[i] as ContinuationCriterion<S, never>; // i is below the length
      const evaluation = ask(criterion, state, first, redactor);
      evaluations[i] = evaluation;
      if (outranks(evaluation.decision, strongest)) strongest = evaluation.decision;
    }
    const workPending = strongest === 'request' || strongest === 'allow';
    const second: CriterionContext<never> = reserve
      ? { workPending, grants, now, deps: first.deps, reserve }
      : { workPending, grants, now, deps: first.deps };
    for (let i = 0; i < criteria.length; i++) {
      if (!isLimit[i]) continue;
      const criterion = criteria[i] as ContinuationCriterion<S, never>; // i is below the length
      evaluations[i] = ask(criterion, state, second, redactor);
    }
    return ContinuationOutcome.resolve(evaluations, isoTime(now));
  }

  canContinue(state: S): boolean {
    return this.evaluate(state).shouldContinue;
  }
  decide(state: S): ContinuationDecision {
    return this.evaluate(state).decision;
  }

  /** Name of the limit that allows only one more step, by precedence of stop reasons; null if none does. */
  landing(state: S, now: number, reserve: LandingReserve, deps: object = noDeps): string | null {
    const context = contextOf(state, now, true, deps);
    const due = this.#criteria.filter(
      (c) => quietly(() => c.landsNext?.(state, context, reserve)) === true,
    );
    if (due.length < 2) return due[0]?.name ?? null;
    const rank = (c: ContinuationCriterion<S, never>): number =>
      forbidOrder.indexOf(c.stopReason ?? StopReason.GuardForbade);
    return due.reduce((best, c) => (rank(c) < rank(best) ? c : best)).name;
  }

  /**
   * Limits that forbid more work by nested agents: they are used up, or the rest is reserved for a soft landing.
   * Leaves out used-up time limits, because the deadline enforces them.
   */
  objections(
    state: S,
    now: number,
    reserve: LandingReserve | null,
    redactor: Redactor = defaultRedactor,
    deps: object = noDeps,
  ): readonly ContinuationEvaluation[] {
    const context = contextOf(state, now, true, deps);
    return this.#shared.flatMap((criterion) => {
      const { remainingMs, landsNext, stopReason } = criterion;
      const said = ask(criterion, state, context, redactor);
      if (said.decision === 'forbid') return remainingMs === undefined ? [said] : [];
      if (!reserve || quietly(() => landsNext?.(state, context, reserve)) !== true) return [];
      const reason = `${said.reason} used, and the rest is kept for a last answer`;
      const forbid = { ...said, decision: 'forbid', reason, facts: factsOf(said) } as const;
      return [stopReason ? { ...forbid, stopReason } : forbid];
    });
  }

  /** Usage of each limit as text: "3 of 20 steps". */
  budget(state: S, now: number, deps: object = noDeps): readonly string[] {
    const context = contextOf(state, now, false, deps);
    return this.#criteria
      .filter((c) => c.kind === 'limit')
      .map((c) => ask(c, state, context).reason);
  }

  /** Milliseconds until the first time limit interrupts a hanging call; Infinity without a time limit. */
  remainingMs(state: S, now: number, deps: object = noDeps): number {
    const context = contextOf(state, now, true, deps);
    let least = Number.POSITIVE_INFINITY;
    for (const criterion of this.#timed) {
      const left = quietly(() => criterion.remainingMs?.(state, context));
      if (left !== undefined && left < least) least = left;
    }
    return least;
  }
}

const noDeps: object = Object.freeze({});

/** Builds the context of a criterion. Each criterion types its own dependencies; the caller passes all of them. */
function contextOf(
  state: RunView,
  now: number,
  workPending: boolean,
  deps: object,
): CriterionContext<never> {
  checkRunView(state);
  return { workPending, grants: state.execution.grants, now, deps: deps as never };
}

/** Swallows an error: a criterion that throws here is reported by its evaluation and must not end the run. */
function quietly<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

const outranks = (a: ContinuationDecision, b: ContinuationDecision): boolean =>
  a !== b &&
  (a === 'forbid' || (a === 'request' && b !== 'forbid') || (a === 'stop' && b === 'allow'));

function ask<S>(
  criterion: ContinuationCriterion<S, never>,
  state: S,
  context: CriterionContext<never>,
  redactor: Redactor = defaultRedactor,
): ContinuationEvaluation {
  try {
    const answer: unknown = criterion.evaluate(state, context);
    // the fast path: built-in criteria return all fields, and rarely a stop reason
    if (isFullEvaluation(answer, criterion.name)) return answer;
    if (isDecision(answer)) return completed(criterion.name, { decision: answer });
    if (isRecord(answer) && isDecision(answer['decision']))
      return completed(criterion.name, answer);
    return broken(
      criterion.name,
      `returned ${redactor.text(describeAnswer(answer))} instead of a decision`,
    );
  } catch (error) {
    return broken(criterion.name, `threw: ${redactor.text(messageOf(error))}`);
  }
}

function isFullEvaluation(answer: unknown, name: string): answer is ContinuationEvaluation {
  if (typeof answer !== 'object' || answer === null) return false;
  const said = answer as ContinuationEvaluation;
  const { criterion, decision, reason, context, stopReason } = said;
  return (
    criterion === name &&
    stopReason === undefined &&
    typeof reason === 'string' &&
    context !== undefined &&
    isDecision(decision) &&
    // limits that are not used up derive their facts when they are read
    (decision !== 'forbid' || said.facts !== undefined)
  );
}

/** Fills in missing fields. Rejects an unknown stop reason, because it would outrank all others. */
function completed(
  criterion: string,
  answer: Partial<ContinuationEvaluation>,
): ContinuationEvaluation {
  const { stopReason } = answer;
  if (stopReason !== undefined && !forbidOrder.includes(stopReason))
    return broken(criterion, `returned the unknown stop reason ${describeAnswer(stopReason)}`);
  const isForbid = answer.decision === 'forbid' && answer.facts === undefined;
  if (
    !isForbid &&
    answer.criterion === criterion &&
    answer.reason !== undefined &&
    answer.context !== undefined
  )
    return answer as ContinuationEvaluation;
  const decision = answer.decision as ContinuationDecision; // checked by the caller
  const { reason, context } = ContinuationEvaluation.fromDecision(criterion, decision);
  return {
    ...answer,
    criterion,
    decision,
    reason: answer.reason ?? reason,
    context: answer.context ?? context,
    ...(isForbid && { facts: { kind: 'custom', remedy: answer.remedy ?? null } }),
  };
}

function describeAnswer(answer: unknown): string {
  if (!(answer instanceof Promise)) return JSON.stringify(answer) ?? String(answer);
  answer.catch(() => {}); // an unhandled rejection would end the process
  return 'a promise (criteria are synchronous)';
}

const broken = (criterion: string, what: string): ContinuationEvaluation => ({
  criterion,
  decision: 'forbid',
  reason: `${criterion} ${what}`,
  context: { broken: true },
  stopReason: StopReason.ErrorForbade,
  remedy: { text: `fix the criterion ${criterion}, then send a new message.` },
  facts: { kind: 'broken' },
});
