import type { Execution } from '../agent/execution.ts';
import {
  allowanceOf,
  grantedByOwners,
  withinAllowance,
  type GrantCaps,
  type GrantRecord,
} from '../continuation/grant-allowance.ts';
import type { Grants } from '../continuation/grants.ts';

/** A grant on its way to the worker that gives it. */
export interface GrantOrder extends GrantRecord {
  /** An owner's caps when the order was accepted. */
  readonly caps?: GrantCaps;
}

/**
 * What of the order still fits into the caps: others may have been accepted beside it, and the worker alone knows all
 * that was given. Null where nothing is left.
 */
export function grantWithin(
  { grant, caps }: GrantOrder,
  execution: Pick<Execution, 'grants' | 'grantLog'>,
): Grants | null {
  if (!caps) return grant;
  return withinAllowance(grant, allowanceOf(caps, grantedByOwners(execution), null).left);
}
