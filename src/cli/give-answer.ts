import type { PendingApproval } from '../events/agent-event.ts';
import type { Session } from '../sessions/session.ts';
import type { Answer } from './ask-approval.ts';
import type { Project } from './project.ts';

/** Submits the user's answer to a call of a session, as it was shown. */
export const giveAnswer = (
  { runtime, owner }: Project,
  sessionId: string,
  { callId, executionId, argsHash }: PendingApproval,
  said: Answer,
): Promise<Session> =>
  'deny' in said
    ? runtime.deny(sessionId, callId, { owner, executionId, argsHash, reason: said.deny })
    : runtime.approve(sessionId, callId, {
        owner,
        executionId,
        argsHash,
        ...(said.args && { args: said.args }),
        ...(said.remember && { remember: said.remember }),
      });
