import { isoTime } from '../clock.ts';
import { uuid } from '../ids.ts';
import { canonicalJson } from '../json.ts';
import type { MessageContent } from '../messages/content-part.ts';
import { Message } from '../messages/message.ts';
import { sessionParked } from './attempts.ts';
import { checkedExecutionId } from './check-names.ts';
import type { SessionScheduler } from './session-scheduler.ts';
import { awaitingApproval, executionTaken, sessionBusy, tooManyWaiting } from './session-errors.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { SendOptions } from './session-options.ts';
import { sha256 } from '../sha256.ts';

export interface Sent {
  /** The execution that answers the message. */
  readonly executionId: string;
  /** Whether the message was sent before, and its work has begun or ended. */
  readonly hasBegun: boolean;
}

/** Stores a message for the agent to work on. The same content under the same execution id is stored once. */
export async function sendMessage(
  lookup: SessionLookup,
  scheduler: SessionScheduler,
  sessionId: string,
  content: MessageContent,
  options: SendOptions,
): Promise<Sent> {
  const { owner, executionId: given, whenBusy } = options;
  const refusal = scheduler.refusal();
  // a message that was sent before takes no space
  if (refusal && (given === undefined || refusal.code !== 'queue_full')) throw refusal;
  const row = await lookup.workable(sessionId, owner);
  const executionId = given === undefined ? uuid() : checkedExecutionId(given);
  const message = Message.user(content, { createdAt: isoTime(lookup.clock.now()) }).toJSON();
  const { accepted, repeat, isFull } = await scheduler.accept(
    row,
    { message },
    {
      executionId,
      contentHash: given === undefined ? null : hashOf(executionId, message.content),
      phases: refusal ? [] : whenBusy === 'queue' ? ['idle', 'open', 'parked'] : ['idle'],
      maxWaiting: lookup.maxWaiting,
    },
  );
  if (repeat === 'other') throw executionTaken(sessionId, executionId);
  if (accepted || repeat) return { executionId, hasBegun: repeat === 'begun' };
  if (refusal) throw refusal;
  if (isFull) throw tooManyWaiting(sessionId, lookup.maxWaiting);
  const now = await lookup.owned(sessionId, owner);
  if (now.phase === 'parked') throw sessionParked(now);
  throw now.phase === 'paused'
    ? awaitingApproval(sessionId, await lookup.waiting(now))
    : sessionBusy(now);
}

/** Tells one content from another without keeping it. */
const hashOf = (executionId: string, content: unknown): string =>
  sha256(`${executionId}\n${canonicalJson(content)}`);
