import type { PendingApproval } from '../events/agent-event.ts';
import type { Session } from '../sessions/session.ts';
import type { Answer } from './ask-approval.ts';
import type { Project } from './project.ts';

/** Tells a session what a person said about one of its calls, as it was shown. */
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
      });
