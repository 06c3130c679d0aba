import type { PendingApproval } from '../events/agent-event.ts';
import { argsHash } from '../tools/arguments.ts';

const isNamed = (one: PendingApproval): boolean =>
  typeof one.argsHash === 'string' && typeof one.executionId === 'string';

/** Calls that wait, each with what an answer can name: release 0.1.0 kept neither the execution nor the hash. */
export const namedApprovals = (
  pending: readonly PendingApproval[],
  executionId: string,
): readonly PendingApproval[] =>
  pending.every(isNamed)
    ? pending
    : pending.map((one) => ({ ...one, argsHash: argsHash(one.args), executionId }));
