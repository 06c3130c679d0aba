import { AgentError } from '../../errors/agent-error.ts';
import { isSessionId } from '../../sessions/check-names.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { Session } from '../../sessions/session.ts';
import { chatNotFound, ChatRefusal } from './use-chat-errors.ts';

export interface WantedChat {
  readonly chatId: string;
  readonly owner: string;
  /** Whether an unknown id creates a session. */
  readonly mayCreate: boolean;
  /** Returns the agent of a new session; undefined if the runtime has only one. */
  readonly agent: () => string | undefined | Promise<string | undefined>;
}

/** Returns the session of a chat, and creates it with its first message. */
export async function sessionFor(
  runtime: SessionRuntime,
  { chatId, owner, mayCreate, agent }: WantedChat,
): Promise<Session> {
  if (!isSessionId(chatId)) throw badChatId();
  const found = await runtime.get(chatId, { owner }).catch(notFound);
  if (found) return found;
  if (!mayCreate) throw chatNotFound();
  const name = await agent();
  try {
    const created = await runtime.create({
      id: chatId,
      owner,
      ...(name !== undefined && { agent: name }),
    });
    return await created.get();
  } catch (error) {
    // taken: by the same owner a moment ago, or by another owner, which is not disclosed
    if (!AgentError.is(error, 'conflict')) throw error;
    return runtime.get(chatId, { owner });
  }
}

function notFound(error: unknown): null {
  if (AgentError.is(error, 'session_not_found')) return null;
  throw error;
}

export const badChatId = (): ChatRefusal =>
  new ChatRefusal(
    'invalid_request',
    'A chat id may contain only letters, digits and _-=@,.; and at most 128 characters.',
  );
