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

/** One counted limit. All of them forbid by the rule in {@link limitCriterion}; each only says what it counts. */
export interface LimitSpec {
  readonly name: string;
  readonly stopReason: StopReason;
  readonly max: number;
  /** What is counted, in the plural: "steps". */
  readonly unit: string;
  /** What explanations call it; left out, they say `unit`. */
  readonly measure?: LimitFacts['unit'];
  /** The builder's method that raises it, for the remedy. */
  readonly option: string;
  /** What it counts over. Default: one execution. */
  readonly scope?: LimitFacts['scope'];
  /** What extends it for one execution; limits of the whole session have none. */
  readonly grant?: GrantKind;
  /** Null when it cannot be known (a cost without a price). */
  used(state: RunView, now: number): number | null;
  /** Where the limit is not simply `max` plus what was granted. */
  limit?(state: RunView, context: CriterionContext): number;
  /** How much of it a soft landing keeps back for the last answer. */
  reserve?(reserve: LandingReserve): number;
  /** Which part of an agent's share it counts: a stop then says who has used most. */
  share?(share: FamilyShare): number | null;
  /** Counts what the agent does by itself: does not bind the agents behind its calls. */
  readonly isOwn?: boolean;
  /** Counts things, such as steps: a limit of 2.5 is refused. */
  readonly isWhole?: boolean;
  /** Time limits count in seconds, cut hanging calls, and look ahead over a wait. */
  readonly isTime?: boolean;
}

/**
 * Forbids while work is pending and the budget is used up, or once its landing step was answered.
 * Otherwise it has no objection: an answer on the last allowed step is not a stop by the limit.
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
        return {
          criterion: name,
          decision: 'allow',
          reason: `the price is unknown, so the limit of ${amount(limit)} ${unit} is not enforced`,
          context: { used, limit },
          facts: make.open(used, limit, grantedIn(context)),
        };
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
        remedy: remedyFor(spec, facts),
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

/** Most answers are this one, and every step keeps it: within a millisecond a time limit says the same. */
function allowance(
  { name, isTime }: LimitSpec,
  count: (used: number, limit: number) => string,
  make: LimitFactsMaker,
): (used: number, limit: number, granted: number) => ContinuationEvaluation {
  let last:
    | (ContinuationEvaluation & {
        readonly context: { readonly used: number; readonly limit: number };
      })
    | null = null;
  return (exact, limit, granted) => {
    const used = isTime ? Math.round(exact * 1000) / 1000 : exact;
    if (last?.context.used !== used || last.context.limit !== limit)
      last = {
        criterion: name,
        decision: 'allow',
        reason: count(exact, limit),
        context: { used, limit },
        facts: make.open(used, limit, granted),
      };
    return last;
  };
}

/** "3 of 20 steps". Every step keeps such a line, so the same words are the same string. */
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

/** Names the grant that continues the run, and the option that raises the limit for good. */
function remedyFor({ option, grant }: LimitSpec, facts: LimitFacts): Remedy {
  if (grant === undefined)
    return { text: `raise the limit with ${option}, then send a new message.`, option };
  const more = sameAgain(facts);
  return {
    text: `call resume(state, { grant: { ${grant}: ${more} } }), or raise the limit with ${option}.`,
    option,
    grant: { [grant]: more },
  };
}

/** " (2 + 3 granted)" */
const grantedText = ({ base, granted, limit }: LimitFacts): string =>
  granted > 0 && base + granted === limit ? ` (${amount(base)} + ${amount(granted)} granted)` : '';

/** Whole numbers as they are, others to the digits that matter. */
function amount(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return value < 0.01 ? value.toPrecision(2) : String(Math.round(value * 100) / 100);
}

/** Enough of a second for a person; the exact number is in the context. */
const tenths = (value: number): number => Math.round(value * 10) / 10;
