import { AgentError } from '../../errors/agent-error.ts';
import { defaultRedactor } from '../../errors/redactor.ts';
import { textOf } from '../../messages/content-part.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { Session } from '../../sessions/session.ts';
import { giveAnswers } from './use-chat-answers.ts';
import { ChatRefusal } from './use-chat-errors.ts';
import type { ChatAsk } from './use-chat-request.ts';

/** Execution that answers the request, and the log number up to which the client has it. */
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

/** Sends a message. Its client id becomes part of the execution id, so a message that is sent twice runs once. */
async function send(runtime: SessionRuntime, session: Session, ask: NewMessage): Promise<Asked> {
  const { id, owner, status } = session;
  if (ask.isAgain && status !== 'failed' && status !== 'pending')
    throw new ChatRefusal(
      'regenerate_unsupported',
      'An answer cannot be regenerated. Send another message, or fork the session.',
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

/** Whether an earlier turn answers it: the id was reused, or an old message was sent again. */
async function isEarlier(runtime: SessionRuntime, sent: Session): Promise<boolean> {
  if (sent.status === 'in_progress') return false;
  return (await runtime.get(sent.id, sent)).executionId !== sent.executionId;
}

const isRefused = (error: unknown): boolean =>
  AgentError.is(error, 'conflict') || AgentError.is(error, 'awaiting_approval');

const executionIdOf = (messageId: string): string | undefined =>
  /^[\w-]{8,100}$/.test(messageId) ? `chat_${messageId}` : undefined;

/** Follows a message that was sent before. Another message with the same id is either an edit, or its id is reused. */
async function sentBefore(
  runtime: SessionRuntime,
  { id, owner }: Session,
  ask: NewMessage,
  executionId: string,
): Promise<Asked> {
  const isNewest = await hasStarted(runtime, id, owner, executionId);
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
      'A sent message cannot be edited. Send another message, or fork the session.',
    );
  const sent = await runtime.send(id, ask.content, { owner });
  return { executionId: sent.executionId ?? '', after: 0 };
}

/** Whether the accepted message has started: a worker then makes it the session's execution. */
async function hasStarted(
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
