import { grantRemedy } from '../grant-remedy.ts';
import { positive, whole } from '../../errors/agent-error.ts';
import type { ContinuationCriterion, CriterionContext, LandingReserve } from '../criterion.ts';
import type { ContinuationEvaluation, Remedy } from '../evaluation.ts';
import { spendersOf, spentBy, type FamilyShare } from '../family-share.ts';
import { ROUNDING, type LimitFacts } from '../facts.ts';
import type { GrantKind } from '../grants.ts';
import { sameAgain } from '../limit-grant.ts';
import { isAnswered, stepToJudge, type RunView } from '../run-view.ts';
import type { StopReason } from '../stop-reason.ts';
import { LimitFactsMaker } from './limit-facts.ts';

/** Settings of one limit: what it counts. {@link limitCriterion} holds the rule by which all limits forbid. */
export interface LimitSpec {
  readonly name: string;
  readonly stopReason: StopReason;
  readonly max: number;
  /** The unit in the plural: "steps". */
  readonly unit: string;
  /** Unit that explanations use. Default: `unit`. */
  readonly measure?: LimitFacts['unit'];
  /** How to write the option that raises the limit, for the remedy: `maxSteps`, `withMaxSteps(...)`. */
  readonly option: string;
  /** Scope of the count. Default: one execution. */
  readonly scope?: LimitFacts['scope'];
  /** Kind of grant that extends the limit for one execution; session limits have none. */
  readonly grant?: GrantKind;
  /** Returns the amount used; null if unknown, such as a cost without a price. */
  used(state: RunView, now: number): number | null;
  /** Computes the limit if it is not `max` plus the granted amount. */
  limit?(state: RunView, context: CriterionContext): number;
  /** Amount that a soft landing reserves for the last answer. */
  reserve?(reserve: LandingReserve): number;
  /** Part of a nested agent's share that the limit counts. The reason then names the agents that used the most. */
  share?(share: FamilyShare): number | null;
  /** Whether it counts only the agent itself and does not bind nested agents. */
  readonly isOwn?: boolean;
  /** Whether the limit must be a whole number, such as a number of steps. */
  readonly isWhole?: boolean;
  /** Whether it is a time limit: counts seconds, interrupts hanging calls and includes the wait before a retry. */
  readonly isTime?: boolean;
}

/**
 * Forbids if the budget is used up while work is pending, or once the model answered the soft landing step.
 * Otherwise it allows: an answer on the last allowed step is not a stop by the limit.
 */
export function limitCriterion(spec: LimitSpec): ContinuationCriterion {
  const { name, max, unit, stopReason, grant, option, isOwn } = spec;
  if (spec.isWhole) whole(name, max);
  else positive(name, max);
  const grantedIn = ({ grants }: CriterionContext): number => (grant && grants[grant]) || 0;
  const limitOf = (state: RunView, context: CriterionContext): number =>
    spec.limit?.(state, context) ?? max + grantedIn(context);
  const count = counter(spec);
  const make = new LimitFactsMaker(spec);
  const allow = allowance(spec, count, make);

  const criterion: ContinuationCriterion = {
    name,
    kind: 'limit',
    stopReason,
    limit: max,
    option,
    ...(isOwn && { isOwn }),
    ...(grant && { grant }),
    evaluate(state, context): ContinuationEvaluation {
      const limit = limitOf(state, context);
      const used = spec.used(state, context.now);
      if (used === null)
        return make.allow(
          `the price is unknown, so the limit of ${amount(limit)} ${unit} is not enforced`,
          used,
          limit,
          grantedIn(context),
        );
      const step = stepToJudge(state);
      const waitMs = (spec.isTime && step?.waitMs) || 0;
      const landed = step?.softLanding === name && isAnswered(step);
      if (!landed && !(context.workPending && used + waitMs / 1000 >= limit - ROUNDING))
        return used >= limit - ROUNDING
          ? { ...allow(used, limit, 0), facts: make.spent(used, limit, state, context) }
          : allow(used, limit, grantedIn(context));
      const facts = make.spent(used, limit, state, context, { waitMs, landed });
      const counted = count(used, limit) + grantedText(facts);
      const how = landed
        ? `${counted} used, and this last step was kept for an answer without tools`
        : waitMs > 0 && used < limit
          ? `${counted} used, and the next try would have to wait ${amount(waitMs / 1000)} seconds`
          : `${counted} used while work is still pending`;
      const spenders = spec.share ? spendersOf(state.execution.family, spec.share) : [];
      return {
        criterion: name,
        decision: 'forbid',
        reason: how + spentBy(spenders, amount),
        context: {
          used,
          limit,
          ...(waitMs > 0 && { waitMs }),
          ...(spenders.length > 0 && { spenders }),
        },
        stopReason,
        remedy: remedyFor(spec, state, facts),
        facts,
      };
    },
  };
  const { reserve } = spec;
  if (reserve)
    criterion.landsNext = (state, context, kept) => {
      const used = spec.used(state, context.now);
      return used !== null && used + reserve(kept) >= limitOf(state, context);
    };
  if (spec.isTime)
    criterion.remainingMs = (state, context) =>
      (limitOf(state, context) - (spec.used(state, context.now) ?? 0)) * 1000;
  return criterion;
}

/** Reuses the last evaluation that allows, because every step stores one. A time limit changes once per millisecond. */
function allowance(
  { isTime }: LimitSpec,
  count: (used: number, limit: number) => string,
  make: LimitFactsMaker,
): (used: number, limit: number, granted: number) => ContinuationEvaluation {
  let last: ContinuationEvaluation | null = null;
  return (exact, limit, granted) => {
    const used = isTime ? Math.round(exact * 1000) / 1000 : exact;
    if (last?.context['used'] !== used || last.context['limit'] !== limit)
      last = make.allow(count(exact, limit), used, limit, granted);
    return last;
  };
}

/** Writes "3 of 20 steps". Every step stores this text, so equal texts share one string. */
function counter({ isTime, unit }: LimitSpec): (used: number, limit: number) => string {
  let shown = Number.NaN;
  let of = Number.NaN;
  let tail = '';
  let line = '';
  return (used, limit) => {
    const next = isTime ? tenths(used) : used;
    if (next === shown && limit === of) return line;
    if (limit !== of) tail = ` of ${amount(limit)} ${unit}`;
    [shown, of] = [next, limit];
    return (line = amount(next) + tail);
  };
}

/** Names the grant that continues the run, and the option that raises the limit permanently. */
function remedyFor({ option, grant }: LimitSpec, state: RunView, facts: LimitFacts): Remedy {
  if (grant === undefined)
    return { text: `raise the limit with ${option}, then send a new message.`, option };
  const ways = [`raise the limit with ${option}`];
  return grantRemedy(state, { [grant]: sameAgain(facts) }, { ways, option });
}

/** " (2 + 3 granted)" */
const grantedText = ({ base, granted, limit }: LimitFacts): string =>
  granted > 0 && base + granted === limit ? ` (${amount(base)} + ${amount(granted)} granted)` : '';

/** Formats a number: whole numbers unchanged, others rounded to two decimals or two significant digits. */
function amount(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return value < 0.01 ? value.toPrecision(2) : String(Math.round(value * 100) / 100);
}

/** Rounds seconds to tenths for the text; the context holds the value to the millisecond. */
const tenths = (value: number): number => Math.round(value * 10) / 10;
