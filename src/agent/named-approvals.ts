import type { PendingApproval } from '../events/agent-event.ts';
import { argsHash } from '../tools/arguments.ts';

const isNamed = (one: PendingApproval): boolean =>
  typeof one.argsHash === 'string' && typeof one.executionId === 'string';

/** Adds `executionId` and `argsHash` to pending approvals of release 0.1.0, which stored neither. */
export const namedApprovals = (
  pending: readonly PendingApproval[],
  executionId: string,
): readonly PendingApproval[] =>
  pending.every(isNamed)
    ? pending
    : pending.map((one) => ({ ...one, argsHash: argsHash(one.args), executionId }));
