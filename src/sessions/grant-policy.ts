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
 * Most that owners may grant to one execution, all their grants together: an amount for each kind, `0` for none of it,
 * `'unlimited'` for no cap. A kind that is left out has the default: the limit once more, plus what was used beyond it.
 */
export type OwnerGrantCaps = 'unlimited' | { readonly [K in GrantKind]?: GrantCap };

export interface GrantQuestion {
  readonly session: { readonly id: string; readonly owner: string; readonly agent: string };
  readonly executionId: string;
  /** What owners have granted to this execution before. */
  readonly granted: Grants;
  /** What the owner asks for; null where a view asks what is left. */
  readonly requested: Grants | null;
  /** The caps that apply where the answer names none. */
  readonly defaults: Readonly<Record<GrantKind, number>>;
}

/** The caps, or a function that finds them, for example by the plan that the owner pays for. */
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

/** Refuses what is no policy when the runtime is made, not when the first owner asks. */
export function checkedPolicy(option: string, policy: GrantPolicy): GrantPolicy {
  if (typeof policy !== 'function') checkCaps(option, policy);
  return policy;
}

export interface OwnersGrants {
  readonly caps: GrantCaps;
  readonly allowance: GrantAllowance;
}

/** The caps for owners of this execution, and what is left of them. */
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

/** The operator's mistake, so no error that a client is shown. */
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
