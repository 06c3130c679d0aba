import { redactedWithPaths } from '../errors/hidden-paths.ts';
import type { Redactor } from '../errors/redactor.ts';
import type { PendingApproval } from './agent-event.ts';

/** An agent's own redactor, and one that also hides what its nested agents hide. */
export interface ApprovalRedactors {
  readonly own: Redactor;
  readonly family: Redactor;
}

/** Returns pending approvals for an approver: secrets are hidden and listed. Ids stay, because answers need them. */
export const shownApprovals = (
  pending: readonly PendingApproval[],
  { own, family }: ApprovalRedactors,
): readonly PendingApproval[] =>
  pending.map((approval) => {
    const redactor = approval.path.length === 0 ? own : family;
    const { value: args, hidden } = redactedWithPaths(redactor, approval.args);
    return { ...approval, args, ...(hidden.length > 0 && { hidden }) };
  });
