import type { AgentEvent } from '../events/agent-event.ts';
import { isHarmless, parsePartialJson, type JsonObject } from '../json.ts';
import { resultText } from '../tools/tool-result.ts';
import type { StreamSource, ToolCallRecord } from './run-stream.ts';
import { onDemand } from '../on-demand.ts';

type Events = AsyncGenerator<AgentEvent, void, undefined>;

const isOfRoot = (event: AgentEvent): boolean => event.parentAgentId === null;

/** Yields the text of the root agent: its chunks, or whole messages if its driver does not stream. */
export async function* readText(events: Events): AsyncGenerator<string, void, undefined> {
  let streamed = '';
  for await (const event of events) {
    if (!isOfRoot(event)) continue;
    if (event.type === 'StreamChunk') {
      streamed = event.messageId;
      yield event.content;
    } else if (event.type === 'MessageAdded' && event.role === 'assistant') {
      if (event.messageId !== streamed) yield event.content;
    }
  }
}

/** Fraction by which a text must grow before it is parsed again, so that the total work stays linear. */
const GROWTH = 1 / 32;

/** Yields the answer of the root agent so far. */
export async function* readPartials(
  events: Events,
  source: Pick<StreamSource<unknown>, 'format'>,
): AsyncGenerator<unknown, void, undefined> {
  let read: ((text: string) => unknown) | null = null;
  let pieces: string[] = [];
  let length = 0;
  let due = 0;
  let message = '';
  let last = '';
  for await (const event of events) {
    if (!isOfRoot(event)) continue;
    if (event.type === 'StreamChunk') {
      if (event.messageId !== message) [pieces, length, due, message] = [[], 0, 0, event.messageId];
      pieces.push(event.content);
      length += event.content.length;
      if (length < due) continue;
      due = length * (1 + GROWTH);
    } else if (event.type === 'MessageAdded' && event.role === 'assistant')
      pieces = [event.content];
    else {
      if (event.type === 'StreamDiscarded') [pieces, length, due] = [[], 0, 0];
      continue;
    }
    read ??= await readerOf(source);
    const text = pieces.join('');
    pieces = [text];
    const value = read(text);
    const seen = value === undefined ? last : JSON.stringify(value);
    if (seen === last) continue;
    last = seen;
    yield value;
  }
}

/** Creates a parser for an incomplete text; returns undefined if it is empty or does not match the format. */
async function readerOf({
  format,
}: Pick<StreamSource<unknown>, 'format'>): Promise<(text: string) => unknown> {
  const schema = format();
  if (schema === null) return (text) => text;
  const fits = await checkOf(schema);
  return (text) => {
    const value = parsePartialJson(text);
    return value !== undefined && isHarmless(value) && fits(value) ? value : undefined;
  };
}

/** Creates a check of partial values. Accepts everything if the JSON Schema is not supported. */
async function checkOf(schema: JsonObject): Promise<(value: unknown) => boolean> {
  // loaded on demand, because few streams need it
  const { partialCheck } = await onDemand(import('../tools/partial-schema.ts'));
  try {
    return partialCheck(schema);
  } catch {
    return () => true;
  }
}

/** Yields the finished calls of the root agent. */
export async function* readCalls(
  events: Events,
  source: Pick<StreamSource<unknown>, 'argsOf'>,
): AsyncGenerator<ToolCallRecord, void, undefined> {
  const started = new Map<string, JsonObject>();
  for await (const event of events) {
    if (!isOfRoot(event)) continue;
    if (event.type === 'ToolCallStarted') started.set(event.toolCallId, event.args);
    if (event.type !== 'ToolCallCompleted') continue;
    const { tool, toolCallId: callId, success, result, files, truncated } = event;
    const asked = typeof event.args === 'object' ? event.args : null;
    const args = started.get(callId) ?? asked ?? source.argsOf?.(callId) ?? null;
    started.delete(callId);
    yield success && args !== null && truncated !== true
      ? { ok: true, tool, callId, args, result, ...(files && { files }) }
      : { ok: false, tool, callId, args, error: event.error ?? resultText(result) };
  }
}
