import type { AgentEvent } from '../events/agent-event.ts';
import { isHarmless, parsePartialJson, type JsonObject } from '../json.ts';
import { partialCheck } from '../tools/partial-schema.ts';
import { resultText } from '../tools/tool-result.ts';
import type { StreamSource, ToolCallRecord } from './run-stream.ts';

type Events = AsyncGenerator<AgentEvent, void, undefined>;

const isOfRoot = (event: AgentEvent): boolean => event.parentAgentId === null;

/** The text of the root: its chunks, or the whole message where its driver does not stream. */
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

/** A longer text is read again only once it has grown by this part: reading stays linear in its length. */
const GROWTH = 1 / 32;

/** The answer of the root as far as it has arrived. */
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
    read ??= readerOf(source);
    const text = pieces.join('');
    pieces = [text];
    const value = read(text);
    const seen = value === undefined ? last : JSON.stringify(value);
    if (seen === last) continue;
    last = seen;
    yield value;
  }
}

/** Reads what the text holds so far: undefined where that is nothing, or does not match the format. */
function readerOf({ format }: Pick<StreamSource<unknown>, 'format'>): (text: string) => unknown {
  const schema = format();
  if (schema === null) return (text) => text;
  const fits = checkOf(schema);
  return (text) => {
    const value = parsePartialJson(text);
    return value !== undefined && isHarmless(value) && fits(value) ? value : undefined;
  };
}

/** The library behind a schema may check what its JSON form cannot say, and then that form may be of any kind. */
function checkOf(schema: JsonObject): (value: unknown) => boolean {
  try {
    return partialCheck(schema);
  } catch {
    return () => true;
  }
}

/** The calls of the root that have ended. */
export async function* readCalls(
  events: Events,
  source: Pick<StreamSource<unknown>, 'argsOf'>,
): AsyncGenerator<ToolCallRecord, void, undefined> {
  const started = new Map<string, JsonObject>();
  for await (const event of events) {
    if (!isOfRoot(event)) continue;
    if (event.type === 'ToolCallStarted') started.set(event.toolCallId, event.args);
    if (event.type !== 'ToolCallCompleted') continue;
    const { tool, toolCallId: callId, success, result, truncated } = event;
    const asked = typeof event.args === 'object' ? event.args : null;
    const args = started.get(callId) ?? asked ?? source.argsOf?.(callId) ?? null;
    started.delete(callId);
    yield success && args !== null && truncated !== true
      ? { ok: true, tool, callId, args, result }
      : { ok: false, tool, callId, args, error: event.error ?? resultText(result) };
  }
}
