import { isoTime } from '../clock.ts';
import { uuid } from '../ids.ts';
import { canonicalJson } from '../json.ts';
import type { MessageContent } from '../messages/content-part.ts';
import { Message } from '../messages/message.ts';
import { sessionParked } from './attempts.ts';
import { checkedExecutionId } from './check-names.ts';
import { plainBody } from './row-writer.ts';
import {
  awaitingApproval,
  executionTaken,
  sessionBusy,
  sessionNotFound,
  tooManyWaiting,
} from './session-errors.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { SendOptions } from './session-options.ts';
import type { SessionRow } from './session-rows.ts';
import type { CommandBody } from './session-task.ts';
import type { SessionWorker } from './session-worker.ts';
import { accepted as acceptedAt, shownRow } from './stores/session-rules.ts';
import { sha256 } from '../sha256.ts';

export interface Sent {
  /** The execution that answers the message. */
  readonly executionId: string;
  /** Whether the message was sent before, and its work has begun or ended. */
  readonly hasBegun: boolean;
  /** The session as the message left it, if it was idle as it was read. */
  readonly row: SessionRow | null;
}

/** Stores a message for the agent to work on, in a session by id or as it was just read. The same content under the same execution id is stored once. */
export async function sendMessage(
  lookup: SessionLookup,
  worker: SessionWorker,
  session: string | SessionRow,
  content: MessageContent,
  options: SendOptions,
): Promise<Sent> {
  const { owner, executionId: given, whenBusy, cache } = options;
  const { store, clock, maxWaiting } = lookup;
  const refusal = worker.refusal(owner);
  // a repeated message takes no space in the queue
  if (refusal && (given === undefined || refusal.code !== 'queue_full')) throw refusal;
  const row = typeof session === 'string' ? await lookup.workable(session, owner) : session;
  const { id: sessionId } = row;
  const executionId = given === undefined ? uuid() : checkedExecutionId(given);
  const at = isoTime(clock.now());
  const message = Message.user(content, { createdAt: at, ...(cache && { cache }) }).toJSON();
  const contentHash = given === undefined ? null : hashOf(executionId, message.content);
  const trace = lookup.agentNamed(row.agent)?.trace() ?? {};
  const body = await plainBody(store, { message, ...trace } satisfies CommandBody);
  const said = await store.accept(
    sessionId,
    { kind: 'message', executionId, body, at, contentHash },
    {
      phases: refusal ? [] : whenBusy === 'queue' ? ['idle', 'open', 'parked'] : ['idle'],
      maxWaiting,
    },
  );
  if (said === null) throw sessionNotFound(sessionId);
  const { accepted, repeat, isFull, phase } = said;
  const isFirst = accepted && row.phase === 'idle' && phase === 'idle';
  const after = isFirst ? shownRow(acceptedAt(row, { at }), false) : null;
  if (after) await worker.wakeAccepted(after);
  else if (accepted || repeat === 'waiting') await worker.wake(row);
  if (repeat === 'other') throw executionTaken(sessionId, executionId);
  if (accepted || repeat) return { executionId, hasBegun: repeat === 'begun', row: after };
  if (refusal) throw refusal;
  if (isFull) throw tooManyWaiting(sessionId, maxWaiting);
  const now = await lookup.owned(sessionId, owner);
  if (now.phase === 'parked') throw sessionParked(now);
  throw now.phase === 'paused'
    ? awaitingApproval(sessionId, await lookup.waiting(now))
    : sessionBusy(now);
}

/** Hashes the content, to detect other content under the same id without storing it. */
const hashOf = (executionId: string, content: unknown): string =>
  sha256(`${executionId}\n${canonicalJson(content)}`);
