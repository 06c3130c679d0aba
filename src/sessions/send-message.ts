import { isoTime } from '../clock.ts';
import { uuid } from '../ids.ts';
import type { MessageContent } from '../messages/content-part.ts';
import { Message } from '../messages/message.ts';
import { checkedExecutionId } from './check-names.ts';
import { hasLog } from './log-events.ts';
import type { SessionCrew } from './session-crew.ts';
import { awaitingApproval, executionTaken, sessionBusy } from './session-errors.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { SendOptions } from './session-options.ts';
import type { SessionRow } from './session-rows.ts';

/** Stores a message for the agent to work on; the id of the execution that will answer it. */
export async function sendMessage(
  lookup: SessionLookup,
  crew: SessionCrew,
  sessionId: string,
  content: MessageContent,
  options: SendOptions,
): Promise<string> {
  crew.checkRoom();
  const row = await lookup.owned(sessionId, options.owner);
  if (row.phase === 'paused') throw awaitingApproval(sessionId, await lookup.waiting(row));
  const executionId = await newExecution(lookup, row, options.executionId);
  const message = Message.user(content, { createdAt: isoTime(lookup.clock.now()) });
  const accepted = await crew.accept(
    row,
    { message: message.toJSON() },
    { executionId, phases: options.whenBusy === 'queue' ? ['idle', 'open'] : ['idle'] },
  );
  if (accepted) return executionId;
  const now = await lookup.owned(sessionId, options.owner);
  throw now.phase === 'paused'
    ? awaitingApproval(sessionId, await lookup.waiting(now))
    : sessionBusy(now);
}

/** Given ids must be new: a log is written once. */
async function newExecution(
  { store }: SessionLookup,
  row: SessionRow,
  given: string | undefined,
): Promise<string> {
  if (given === undefined) return uuid();
  const id = checkedExecutionId(given);
  if (row.executionId === id || (await hasLog(store, row.id, id))) throw executionTaken(row.id, id);
  return id;
}
