import { feedsOf } from '../sessions/feed/feeds-of.ts';
import type { LogPosition, StreamedEvent } from '../sessions/feed/live-source.ts';
import { inTime } from '../sessions/in-time.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { BroadcastSettings } from './broadcast-config.ts';
import type { EnvelopeOf, Refill } from './envelope.ts';
import { StreamEnvelopes } from './stream-envelopes.ts';

/** How long a worker in another process may take to answer. A client that gets no answer follows the live text. */
const ANSWER_MS = 300;
const noAnswer = (): Error => new Error('no worker answered');

type Unfinished = Exclude<NonNullable<Refill['unfinished']>[number], EnvelopeOf<'agent.worker'>>;

/**
 * What the worker of an execution has streamed and the log does not have: one chunk for each text and each reasoning
 * that the config includes, one delta for each call.
 */
export async function unfinishedOf(
  runtime: SessionRuntime,
  sessionId: string,
  position: LogPosition,
  config: BroadcastSettings,
): Promise<readonly Unfinished[]> {
  const { executionId } = position;
  const asked = feedsOf(runtime).live.textSoFar(sessionId, position);
  const text =
    asked instanceof Promise ? await inTime(asked, ANSWER_MS, noAnswer).catch(() => null) : asked;
  if (text?.executionId !== executionId) return [];
  const texts = new Map<string, StreamedEvent>();
  for (const { event } of text.events) {
    const key = event.type === 'ToolCallDelta' ? event.toolCallId : event.agentId;
    texts.set(`${event.type} ${key}`, joined(texts.get(`${event.type} ${key}`), event));
  }
  // a page of the log is no frame: nothing is split
  const whole = { ...config, frameBytes: Number.MAX_SAFE_INTEGER };
  const stream = new StreamEnvelopes({ sessionId, executionId }, whole);
  const unfinished: Unfinished[] = [];
  for (const event of texts.values())
    stream.send(event, (envelope) => unfinished.push(envelope as Unfinished)); // a streamed event makes no other
  return unfinished;
}

/** The pieces of a text, or of the arguments of a call, as one. */
function joined(before: StreamedEvent | undefined, event: StreamedEvent): StreamedEvent {
  if (before === undefined) return event;
  if (event.type !== 'ToolCallDelta')
    return before.type === 'ToolCallDelta'
      ? event
      : { ...event, content: before.content + event.content, offset: 0 };
  return before.type === 'ToolCallDelta'
    ? { ...event, argsDelta: before.argsDelta + event.argsDelta, offset: 0 }
    : event;
}
