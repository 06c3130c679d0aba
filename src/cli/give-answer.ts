import type { Session } from '../sessions/session.ts';
import type { Answer } from './ask-approval.ts';
import type { Project } from './project.ts';

/** Tells a session what a person said about one of its calls. */
export const giveAnswer = (
  { runtime, owner }: Project,
  sessionId: string,
  callId: string,
  said: Answer,
): Promise<Session> =>
  'deny' in said
    ? runtime.deny(sessionId, callId, { owner, reason: said.deny })
    : runtime.approve(sessionId, callId, { owner, ...(said.args && { args: said.args }) });
