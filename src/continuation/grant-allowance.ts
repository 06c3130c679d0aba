import type { ContinuationEvaluation } from './evaluation.ts';
import { ROUNDING } from './facts.ts';
import { factsOf } from './facts-of.ts';
import { grantKinds, wholeGrantKinds, type GrantKind, type Grants } from './grants.ts';
import { neededGrant, obstaclesOf, type NeededGrant } from './needed-grant.ts';
import type { ContinuationOutcomeJSON } from './outcome.ts';

/** Most that owners may grant of one kind to one execution, all grants together. */
export type GrantCap = number | 'unlimited';
export type GrantCaps = Readonly<Record<GrantKind, GrantCap>>;

/** One limit of an agent that a grant raises. */
export interface GrantLimit {
  readonly criterion: string;
  readonly kind: GrantKind;
  /** As configured, before any grant. */
  readonly base: number;
}

/** Who stands behind a grant: an owner, within caps, or the code that runs the sessions. */
export type GrantAuthority = 'owner' | 'operator';

export interface GrantRecord {
  readonly grant: Grants;
  /** Null where the caller did not say. */
  readonly by: string | null;
  readonly at: string;
  readonly authority: GrantAuthority;
}

/** What an owner may still grant to an execution. */
export interface GrantAllowance {
  /** By kind; a kind that is used up is left out. */
  readonly left: Readonly<Partial<Record<GrantKind, GrantCap>>>;
  /** The grant within it that lets the execution continue; null where the owner cannot give one. */
  readonly grant: Grants | null;
}

/**
 * The limit once more, plus what was used beyond it. Of several limits of one kind the lowest counts. Where a kind has
 * no limit there is nothing to raise, and only what a remedy asks for is granted.
 */
export function defaultCaps(
  limits: readonly GrantLimit[],
  outcome: ContinuationOutcomeJSON | null,
): Readonly<Record<GrantKind, number>> {
  const evaluations = outcome?.evaluations ?? [];
  const needed: Grants = neededGrant(obstaclesOf(evaluations))?.grant ?? {};
  const capOf = (kind: GrantKind): number => {
    const bases = limits.filter((limit) => limit.kind === kind).map(({ base }) => base);
    if (bases.length === 0) return needed[kind] ?? 0;
    return roundedUp(kind, Math.min(...bases) + owedOf(kind, evaluations));
  };
  return byKind(capOf);
}

/** As remedies round: what a limit asks for by itself is always covered. */
const roundedUp = (kind: GrantKind, amount: number): number =>
  Math.max(0, kind === 'cost' ? Math.ceil(amount * 1e6 - 1e-3) / 1e6 : Math.ceil(amount - 1e-6));

/** How much of a kind was used beyond its limits. */
function owedOf(kind: GrantKind, evaluations: readonly ContinuationEvaluation[]): number {
  let owed = 0;
  for (const evaluation of evaluations) {
    const facts = factsOf(evaluation);
    if (facts.kind === 'limit' && facts.grant === kind) owed = Math.max(owed, facts.owed ?? 0);
    if (facts.kind === 'error' && kind === 'retries')
      owed = Math.max(owed, facts.attempts - facts.maxRetries);
  }
  return owed;
}

/**
 * What owners have granted to an execution: the records say so. Grants that no record of an operator covers count as
 * theirs, and a fork keeps the records of grants that came after its step.
 */
export function grantedByOwners({
  grants,
  grantLog = [],
}: {
  readonly grants: Grants;
  readonly grantLog?: readonly GrantRecord[];
}): Readonly<Record<GrantKind, number>> {
  const sumOf = (kind: GrantKind, authority: GrantAuthority): number =>
    grantLog.reduce(
      (sum, entry) => (entry.authority === authority ? sum + (entry.grant[kind] ?? 0) : sum),
      0,
    );
  return byKind((kind) =>
    Math.max(sumOf(kind, 'owner'), (grants[kind] ?? 0) - sumOf(kind, 'operator')),
  );
}

/** What is left of the caps, and the part of the needed grant that fits into it and is enough for one more step. */
export function allowanceOf(
  caps: GrantCaps,
  granted: Readonly<Record<GrantKind, number>>,
  outcome: ContinuationOutcomeJSON | null,
): GrantAllowance {
  const left: Partial<Record<GrantKind, GrantCap>> = {};
  for (const kind of grantKinds) {
    const cap = caps[kind];
    const amount = cap === 'unlimited' ? cap : usable(kind, cap - granted[kind]);
    if (amount !== 0) left[kind] = amount;
  }
  const needed = neededGrant(obstaclesOf(outcome?.evaluations ?? []));
  const grant = needed && withinAllowance(needed.grant, left);
  return { left, grant: needed && grant && isEnough(grant, needed) ? grant : null };
}

/** A step that has begun is finished whatever it uses, unless its time is up. */
const isEnough = (grant: Grants, { grant: wanted, minimum, owed }: NeededGrant): boolean =>
  grantKinds.every((kind) => {
    if (wanted[kind] === undefined) return true;
    const amount = grant[kind] ?? 0;
    return kind === 'seconds'
      ? amount >= (minimum[kind] ?? 0)
      : amount > (owed[kind] ?? 0) + ROUNDING;
  });

/** The part of a grant that an allowance covers; null where that is nothing. */
export function withinAllowance(grant: Grants, left: GrantAllowance['left']): Grants | null {
  const covered: Partial<Record<GrantKind, number>> = {};
  for (const kind of grantKinds) {
    const [wanted, most] = [grant[kind], left[kind]];
    if (wanted === undefined || most === undefined) continue;
    covered[kind] = most === 'unlimited' ? wanted : Math.min(wanted, most);
  }
  return Object.keys(covered).length > 0 ? covered : null;
}

/** Sums of fractions leave a rest that means nothing; half a step is none. */
function usable(kind: GrantKind, left: number): number {
  if (left < 1e-9) return 0;
  return wholeGrantKinds.has(kind) ? Math.floor(left) : Math.min(left, Number.MAX_SAFE_INTEGER);
}

const byKind = (amount: (kind: GrantKind) => number): Readonly<Record<GrantKind, number>> =>
  Object.fromEntries(grantKinds.map((kind) => [kind, amount(kind)])) as Record<GrantKind, number>;
