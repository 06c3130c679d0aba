import type { ContinuationEvaluation } from './evaluation.ts';
import { ROUNDING } from './facts.ts';
import { factsOf } from './facts-of.ts';
import { grantKinds, wholeGrantKinds, type GrantKind, type Grants } from './grants.ts';
import { neededGrant, obstaclesOf, type NeededGrant } from './needed-grant.ts';
import type { ContinuationOutcomeJSON } from './outcome.ts';

/** Most that owners may grant to one execution, summed over all grants of one kind. */
export type GrantCap = number | 'unlimited';
export type GrantCaps = Readonly<Record<GrantKind, GrantCap>>;

/** One limit of an agent that a grant raises. */
export interface GrantLimit {
  readonly criterion: string;
  readonly kind: GrantKind;
  /** Configured limit, without grants. */
  readonly base: number;
}

/** Who gave a grant: an owner, within the caps, or an operator through server code. */
export type GrantAuthority = 'owner' | 'operator';

export interface GrantRecord {
  readonly grant: Grants;
  /** Null if the caller named no one. */
  readonly by: string | null;
  readonly at: string;
  readonly authority: GrantAuthority;
}

/** What an owner may still grant to an execution. */
export interface GrantAllowance {
  /** Remaining amount by kind; used-up kinds are absent. */
  readonly left: Readonly<Partial<Record<GrantKind, GrantCap>>>;
  /** Grant within `left` that continues the execution; null if the owner cannot give one. */
  readonly grant: Grants | null;
}

/**
 * Computes the default cap of each kind: the limit once more, plus the usage beyond it. With several limits of one
 * kind, the lowest counts. A kind without a limit is capped at the amount that the remedies ask for.
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

/** Rounds as remedies do, so that a cap always covers the grant of a single limit. */
const roundedUp = (kind: GrantKind, amount: number): number =>
  Math.max(0, kind === 'cost' ? Math.ceil(amount * 1e6 - 1e-3) / 1e6 : Math.ceil(amount - 1e-6));

/** Amount of a kind that was used beyond its limits. */
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
 * Sums the grants of owners to an execution. Grants without an operator's record count as grants of owners. A fork
 * keeps the records of grants that came after its step, so the log may exceed `grants`.
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

/** Computes what is left of the caps, and the part of the needed grant within it if that allows one more step. */
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

/** Whether a grant allows one more step. Once started, a step may exceed every limit except time. */
const isEnough = (grant: Grants, { grant: wanted, minimum, owed }: NeededGrant): boolean =>
  grantKinds.every((kind) => {
    if (wanted[kind] === undefined) return true;
    const amount = grant[kind] ?? 0;
    return kind === 'seconds'
      ? amount >= (minimum[kind] ?? 0)
      : amount > (owed[kind] ?? 0) + ROUNDING;
  });

/** Reduces a grant to what an allowance covers; null if it covers nothing. */
export function withinAllowance(grant: Grants, left: GrantAllowance['left']): Grants | null {
  const covered: Partial<Record<GrantKind, number>> = {};
  for (const kind of grantKinds) {
    const [wanted, most] = [grant[kind], left[kind]];
    if (wanted === undefined || most === undefined) continue;
    covered[kind] = most === 'unlimited' ? wanted : Math.min(wanted, most);
  }
  return Object.keys(covered).length > 0 ? covered : null;
}

/** Drops rounding errors and fractions of steps and retries. */
function usable(kind: GrantKind, left: number): number {
  if (left < 1e-9) return 0;
  return wholeGrantKinds.has(kind) ? Math.floor(left) : Math.min(left, Number.MAX_SAFE_INTEGER);
}

const byKind = (amount: (kind: GrantKind) => number): Readonly<Record<GrantKind, number>> =>
  Object.fromEntries(grantKinds.map((kind) => [kind, amount(kind)])) as Record<GrantKind, number>;
