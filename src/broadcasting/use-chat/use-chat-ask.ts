import { AgentError } from '../../errors/agent-error.ts';
import { defaultRedactor } from '../../errors/redactor.ts';
import { textOf } from '../../messages/content-part.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { Session } from '../../sessions/session.ts';
import { giveAnswers } from './use-chat-answers.ts';
import { ChatRefusal } from './use-chat-errors.ts';
import type { ChatAsk } from './use-chat-request.ts';

/** Which execution answers the request, and how much of it the client has. */
export interface Asked {
  readonly executionId: string;
  readonly after: number;
}

type NewMessage = Extract<ChatAsk, { kind: 'message' }>;

export function askRuntime(
  runtime: SessionRuntime,
  session: Session,
  ask: ChatAsk,
): Promise<Asked> {
  return ask.kind === 'message' ? send(runtime, session, ask) : giveAnswers(runtime, session, ask);
}

/** The client's id of a message names the execution: one that is sent twice is carried out once. */
async function send(runtime: SessionRuntime, session: Session, ask: NewMessage): Promise<Asked> {
  const { id, owner, status } = session;
  if (ask.isAgain && status !== 'failed' && status !== 'pending')
    throw new ChatRefusal(
      'regenerate_unsupported',
      'What was said stays said here, so an answer cannot be made again. Send another message, or fork the session.',
    );
  const executionId = ask.isAgain ? undefined : executionIdOf(ask.id);
  try {
    const sent = await runtime.send(id, ask.content, {
      owner,
      ...(executionId !== undefined && { executionId }),
    });
    if (executionId === undefined || !(await isEarlier(runtime, sent)))
      return { executionId: sent.executionId ?? '', after: 0 };
  } catch (error) {
    if (executionId === undefined || !isRefused(error)) throw error;
  }
  return sentBefore(runtime, session, ask, executionId);
}

/** Whether the answer is of an earlier turn: then the id repeats, or a message of the past is sent again. */
async function isEarlier(runtime: SessionRuntime, sent: Session): Promise<boolean> {
  if (sent.status === 'in_progress') return false;
  return (await runtime.get(sent.id, sent)).executionId !== sent.executionId;
}

const isRefused = (error: unknown): boolean =>
  AgentError.is(error, 'conflict') || AgentError.is(error, 'awaiting_approval');

const executionIdOf = (messageId: string): string | undefined =>
  /^[\w-]{8,100}$/.test(messageId) ? `chat_${messageId}` : undefined;

/** The same message again is followed; another one under the same id is either changed, or has an id that repeats. */
async function sentBefore(
  runtime: SessionRuntime,
  { id, owner }: Session,
  ask: NewMessage,
  executionId: string,
): Promise<Asked> {
  const isNewest = await hasBegun(runtime, id, owner, executionId);
  const { events } = await runtime.events(id, { owner, executionId, limit: 10 });
  const text = textOf(ask.content);
  const same = new Set([text, defaultRedactor.text(text)]);
  const isSame = events.some(
    ({ event }) =>
      event.type === 'MessageAdded' && event.role === 'user' && same.has(event.content),
  );
  if (isNewest && (isSame || events.length === 0)) return { executionId, after: 0 };
  if (ask.isNamed && events.length > 0)
    throw new ChatRefusal(
      'edit_unsupported',
      'What was said stays said here, so a message cannot be changed. Send another one, or fork the session.',
    );
  const sent = await runtime.send(id, ask.content, { owner });
  return { executionId: sent.executionId ?? '', after: 0 };
}

/** A message that was just accepted becomes the execution of the session when a worker begins. */
async function hasBegun(
  runtime: SessionRuntime,
  sessionId: string,
  owner: string,
  executionId: string,
): Promise<boolean> {
  for (let tries = 0; tries < 20; tries += 1) {
    const session = await runtime.get(sessionId, { owner });
    if (session.executionId === executionId) return true;
    const isTaken = session.status === 'in_progress' && session.outcome === null;
    if (!isTaken) return false;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return false;
}
