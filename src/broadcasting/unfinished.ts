import { feedsOf } from '../sessions/feed/feeds-of.ts';
import type { LiveStreamed } from '../sessions/feed/live-source.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import { assembled } from './envelope-of.ts';
import type { Refill } from './envelope.ts';

type Unfinished = NonNullable<Refill['unfinished']>[number];

/** What the worker of an execution has streamed and the log does not have: one chunk for each text, one delta for each call. */
export async function unfinishedOf(
  runtime: SessionRuntime,
  sessionId: string,
  executionId: string | null,
): Promise<readonly Unfinished[]> {
  const text = await feedsOf(runtime).live.textSoFar(sessionId);
  if (text?.executionId !== executionId) return [];
  const texts = new Map<string, Unfinished>();
  for (const live of text.events) {
    const [key, envelope] = joined(live, texts);
    if (envelope) texts.set(key, envelope);
  }
  return Array.from(texts.values());
}

function joined(
  { sessionId, event }: LiveStreamed,
  texts: ReadonlyMap<string, Unfinished>,
): readonly [string, Unfinished | null] {
  if (event.type === 'ToolCallDelta') {
    const payload = { tool_call_id: event.toolCallId, args_delta: event.argsDelta, offset: 0 };
    const delta = assembled('agent.tool.delta', event, sessionId, null, null, payload);
    return [`call ${event.toolCallId}`, delta as Unfinished]; // of the type that was asked for
  }
  const key = `${event.type} ${event.agentId}`;
  if (event.type !== 'StreamChunk') return [key, null];
  const { messageId, stepNumber, attempt, index, restart, content } = event;
  const before = texts.get(key);
  const payload = {
    message_id: messageId,
    step: stepNumber,
    attempt,
    chunk_index: index,
    content: (before?.type === 'agent.stream.chunk' ? before.payload.content : '') + content,
    offset: 0,
    ...(restart !== undefined && { restart }),
    is_complete: false,
  };
  const chunk = assembled('agent.stream.chunk', event, sessionId, null, null, payload);
  return [key, chunk as Unfinished];
}
