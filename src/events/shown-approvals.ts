import { redactedWithPaths } from '../errors/hidden-paths.ts';
import type { Redactor } from '../errors/redactor.ts';
import type { PendingApproval } from './agent-event.ts';

/** An agent's own redactor, and one that also hides what the agents among its tools hide. */
export interface ApprovalRedactors {
  readonly own: Redactor;
  readonly family: Redactor;
}

/** Calls that wait, as an approver sees them: secrets are hidden, and said where. Ids stay, for answers name them. */
export const shownApprovals = (
  pending: readonly PendingApproval[],
  { own, family }: ApprovalRedactors,
): readonly PendingApproval[] =>
  pending.map((approval) => {
    const redactor = approval.path.length === 0 ? own : family;
    const { value: args, hidden } = redactedWithPaths(redactor, approval.args);
    return { ...approval, args, ...(hidden.length > 0 && { hidden }) };
  });
