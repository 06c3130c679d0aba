import type { Approvals } from '../agent/approvals.ts';
import { AgentError } from '../errors/agent-error.ts';
import { defaultRedactor } from '../errors/redactor.ts';
import { textOf } from '../messages/content-part.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { NumberedEvent } from '../sessions/log-events.ts';
import type { Session } from '../sessions/session.ts';
import { ChatRefusal } from './use-chat-errors.ts';
import type { ChatAsk } from './use-chat-request.ts';

/** Which execution answers the request, and how much of it the client has. */
export interface Asked {
  readonly executionId: string;
  readonly after: number;
}

type Ask<K extends ChatAsk['kind']> = Extract<ChatAsk, { kind: K }>;

export function askRuntime(
  runtime: SessionRuntime,
  session: Session,
  ask: ChatAsk,
): Promise<Asked> {
  return ask.kind === 'message' ? send(runtime, session, ask) : answer(runtime, session, ask);
}

/** The client's id of a message names the execution: one that is sent twice is carried out once. */
async function send(
  runtime: SessionRuntime,
  session: Session,
  ask: Ask<'message'>,
): Promise<Asked> {
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
    return { executionId: sent.executionId ?? '', after: 0 };
  } catch (error) {
    if (executionId === undefined || !isRefused(error)) throw error;
    return sentBefore(runtime, session, ask, executionId);
  }
}

const isRefused = (error: unknown): boolean =>
  AgentError.is(error, 'conflict') || AgentError.is(error, 'awaiting_approval');

const executionIdOf = (messageId: string): string | undefined =>
  /^[\w-]{8,100}$/.test(messageId) ? `chat_${messageId}` : undefined;

/** The same message again is followed; another one under the same id is either changed, or has an id that repeats. */
async function sentBefore(
  runtime: SessionRuntime,
  { id, owner }: Session,
  ask: Ask<'message'>,
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

/** A message that was taken a moment ago gives its name to the session when somebody begins to work on it. */
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

/** Each call is answered once: what was answered before is only followed. */
async function answer(
  runtime: SessionRuntime,
  { id, owner, executionId }: Session,
  { answers, open }: Ask<'answers'>,
): Promise<Asked> {
  if (executionId === null) throw lateAnswer();
  const after = askedAt(await wholeLog(runtime, id, owner, executionId), open);
  if (after === null) throw lateAnswer();
  // somebody else may answer one of them in between: the others still count
  for (let tries = 0; tries < 5; tries += 1) {
    const approvals = await stillOpen(runtime, id, owner, answers);
    if (approvals === null) break;
    if (await isTaken(runtime.resume(id, { owner, approvals }))) break;
  }
  return { executionId, after };
}

async function stillOpen(
  runtime: SessionRuntime,
  sessionId: string,
  owner: string,
  answers: Ask<'answers'>['answers'],
): Promise<Approvals | null> {
  const { pendingApprovals } = await runtime.get(sessionId, { owner });
  const open = pendingApprovals.flatMap(({ callId }) => {
    const given = answers.get(callId);
    return given ? [[callId, given] as const] : [];
  });
  return open.length > 0 ? Object.fromEntries(open) : null;
}

const late: ReadonlySet<string> = new Set(['conflict', 'unknown_approval', 'not_resumable']);

async function isTaken(resuming: Promise<unknown>): Promise<boolean> {
  try {
    await resuming;
    return true;
  } catch (error) {
    if (AgentError.is(error) && late.has(error.code)) return false;
    throw error;
  }
}

/** Number of the pause that the client stands at: the first one with a call whose end it has not seen. */
function askedAt(log: readonly NumberedEvent[], open: readonly string[]): number | null {
  const place = log.find(
    ({ event }) =>
      event.type === 'AgentPaused' &&
      event.parentAgentId === null &&
      event.pendingApprovals.some(({ callId }) => open.includes(callId)),
  );
  return place?.seq ?? null;
}

async function wholeLog(
  runtime: SessionRuntime,
  sessionId: string,
  owner: string,
  executionId: string,
): Promise<readonly NumberedEvent[]> {
  const log: NumberedEvent[] = [];
  for (;;) {
    const after = log.at(-1)?.seq ?? 0;
    const { events, seq } = await runtime.events(sessionId, { owner, executionId, after });
    log.push(...events);
    if (events.length === 0 || (log.at(-1)?.seq ?? 0) >= seq) return log;
  }
}

const lateAnswer = (): ChatRefusal =>
  new ChatRefusal('unknown_approval', 'Nobody waits for this answer any more.');
