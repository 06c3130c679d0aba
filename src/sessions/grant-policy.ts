import type { Execution } from '../agent/execution.ts';
import {
  allowanceOf,
  defaultCaps,
  grantedByOwners,
  type GrantAllowance,
  type GrantCap,
  type GrantCaps,
  type GrantLimit,
} from '../continuation/grant-allowance.ts';
import { grantKinds, type GrantKind, type Grants } from '../continuation/grants.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import { invalidOption, show } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';

/**
 * Caps on the sum of all grants that owners may give to one execution: an amount for each kind, `0` for none,
 * `'unlimited'` for no cap. A kind that is left out has the default cap: the limit again, plus the amount that was used
 * beyond it.
 */
export type OwnerGrantCaps = 'unlimited' | { readonly [K in GrantKind]?: GrantCap };

export interface GrantQuestion {
  readonly session: { readonly id: string; readonly owner: string; readonly agent: string };
  readonly executionId: string;
  /** Grants that owners have given to this execution so far. */
  readonly granted: Grants;
  /** Grant that the owner asks for; null if a view asks for the remaining allowance. */
  readonly requested: Grants | null;
  /** Caps that apply to kinds that the answer leaves out. */
  readonly defaults: Readonly<Record<GrantKind, number>>;
}

/** Caps, or a function that returns them, for example based on the owner's plan. */
export type GrantPolicy =
  | OwnerGrantCaps
  | ((question: GrantQuestion) => OwnerGrantCaps | Promise<OwnerGrantCaps>);

/** An execution and the limits of its agent. */
export interface GrantSubject {
  readonly session: GrantQuestion['session'];
  readonly execution: Pick<Execution, 'id' | 'grants' | 'grantLog'>;
  readonly outcome: ContinuationOutcomeJSON | null;
  readonly limits: readonly GrantLimit[];
}

/** Checks a policy when the runtime is created, before an owner first asks. */
export function checkedPolicy(option: string, policy: GrantPolicy): GrantPolicy {
  if (typeof policy !== 'function') checkCaps(option, policy);
  return policy;
}

export interface OwnersGrants {
  readonly caps: GrantCaps;
  readonly allowance: GrantAllowance;
}

/** Returns the caps for owners of this execution, and the remaining allowance. */
export async function ownersGrants(
  policy: GrantPolicy,
  { session, execution, outcome, limits }: GrantSubject,
  requested: Grants | null,
): Promise<OwnersGrants> {
  const granted = grantedByOwners(execution);
  const defaults = defaultCaps(limits, outcome);
  const answer =
    typeof policy === 'function'
      ? await policy({
          session,
          executionId: execution.id,
          granted: amountsAboveZero(granted),
          requested,
          defaults,
        })
      : policy;
  const given = typeof policy === 'function' ? checkedAnswer(answer) : answer;
  const capOf = (kind: GrantKind): GrantCap =>
    given === 'unlimited' ? given : (given[kind] ?? defaults[kind]);
  const caps = Object.fromEntries(grantKinds.map((kind) => [kind, capOf(kind)])) as GrantCaps; // one for each kind
  return { caps, allowance: allowanceOf(caps, granted, outcome) };
}

const amountsAboveZero = (amounts: Readonly<Record<GrantKind, number>>): Grants =>
  Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount > 0));

/**
 * Checks the answer of a policy function. A mistake there is the operator's, so it throws an error that clients do not
 * see.
 */
function checkedAnswer(answer: OwnerGrantCaps): OwnerGrantCaps {
  try {
    return checkCaps('the function of grants', answer);
  } catch (cause) {
    throw new TypeError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function checkCaps(option: string, caps: OwnerGrantCaps): OwnerGrantCaps {
  if (caps === 'unlimited') return caps;
  const expected = `'unlimited', or amounts of 0 or more, or 'unlimited', for ${grantKinds.join(', ')}`;
  if (!isRecord(caps)) throw invalidOption(option, caps, expected);
  for (const [kind, cap] of Object.entries(caps)) {
    const isKnown = grantKinds.some((known) => known === kind);
    const isCap =
      cap === 'unlimited' || (typeof cap === 'number' && Number.isFinite(cap) && cap >= 0);
    if (cap !== undefined && !(isKnown && isCap))
      throw invalidOption(`${option} ${show(kind)}`, cap, expected);
  }
  return caps;
}
