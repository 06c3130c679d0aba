import { invalidOption } from '../../errors/agent-error.ts';
import { ttlOf, type CacheTtl } from '../../messages/cache-mark.ts';
import { isBlank } from '../../messages/content-part.ts';
import type { Message } from '../../messages/message.ts';
import type { InferenceRequest } from '../inference-driver.ts';

/**
 * Which cache marks to send. `auto`: yours, and automatic ones to models that cache nothing without marks. `on`: the same
 * to any model behind this driver. `off`: yours alone.
 */
export type PromptCache = 'auto' | 'on' | 'off';

export function checkedPromptCache(value: unknown = 'auto'): PromptCache {
  if (value === 'auto' || value === 'on' || value === 'off') return value;
  throw invalidOption('promptCache', value, "'auto', 'on' or 'off'");
}

/** Where a wire accepts marks. */
export interface MarkWire {
  /** Whether to place marks where the user has placed none. */
  readonly isAuto: boolean;
  /** Whether tools and tool results accept marks. */
  readonly onTools: boolean;
  readonly onResults: boolean;
}

/** Marks by place, in the order of the prompt: tools, the system prompt, messages by their position. */
export type CacheMarks = ReadonlyMap<number, CacheTtl>;

/** Place of the system prompt. */
export const SYSTEM = -1;
/** Place of a tool: the last one is just before the system prompt. */
export const toolPlace = (index: number, count: number): number => SYSTEM - (count - index);

/** Most marks of a request; more are an error of the provider. */
const MAX_MARKS = 4;

const none: CacheMarks = new Map();

/**
 * Chooses the marks of a request. Marks of the user come first: the system prompt, the last marked tool, the newest
 * messages, other tools. Automatic marks take what is left: the end of the request, the end of what never changes, and
 * the end of the request before, so that a call reads all that the call before it wrote.
 */
export function cacheMarks(
  request: Pick<InferenceRequest, 'system' | 'systemCache' | 'tools' | 'messages'>,
  wire: MarkWire | null,
  most: number = MAX_MARKS,
): CacheMarks {
  if (wire === null) return none;
  const { system, systemCache, tools, messages } = request;
  const hasSystem = system !== null && !isBlank(system);
  const marks = new Map<number, CacheTtl>();
  const put = (place: number, ttl: CacheTtl): void => {
    if (marks.size < most && !marks.has(place)) marks.set(place, ttl);
  };
  const marked = tools.flatMap(({ cache }, i) => {
    const ttl = ttlOf(cache);
    return ttl === false ? [] : [{ place: toolPlace(i, tools.length), ttl }];
  });
  const [lastTool] = marked.splice(-1);
  if (systemCache && hasSystem) put(SYSTEM, systemCache);
  if (lastTool && wire.onTools) put(lastTool.place, lastTool.ttl);
  // the system prompt follows the tools, so its mark covers them too
  else if (lastTool && hasSystem) put(SYSTEM, lastTool.ttl);
  const [end, endBefore] = putMessages(messages, wire, put);
  if (wire.onTools) for (const { place, ttl } of marked.toReversed()) put(place, ttl);
  if (wire.isAuto) {
    const isStable = systemCache !== false;
    if (isStable && end !== null) put(end, '5m');
    if (isStable && hasSystem) put(SYSTEM, '5m');
    else if (tools.length > 0 && wire.onTools) put(toolPlace(tools.length - 1, tools.length), '5m');
    if (isStable && endBefore !== null) put(endBefore, '5m');
  }
  return inOrder(marks);
}

/** Puts the marks of messages, newest first. Returns the ends of this request and of the one before. */
function putMessages(
  messages: InferenceRequest['messages'],
  wire: MarkWire,
  put: (place: number, ttl: CacheTtl) => void,
): readonly [number | null, number | null] {
  let end: number | null = null;
  let endBefore: number | null = null;
  let isAnswered = false;
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages.at(i) as Message; // a valid index
    if (message.isAssistant()) isAnswered ||= end !== null;
    // a note that only this request has ends nothing
    const isInput = (message.isUser() || message.isTool()) && message.metadata['passing'] !== true;
    const isEnd = isInput && (end === null || (isAnswered && endBefore === null));
    if ((!isEnd && !message.cache) || !canCarry(message, wire)) continue;
    if (message.cache) put(i, message.cache);
    if (!isEnd) continue;
    if (end === null) end = i;
    else endBefore = i;
  }
  return [end, endBefore];
}

/** Whether a message has content that accepts a mark: providers reject marks on blank text. */
const canCarry = (message: Message, { onResults }: MarkWire): boolean =>
  (onResults || !message.isTool()) && !isBlank(message.content);

/** Sorts the marks. Providers reject an hour behind 5 minutes, so the marks before an hour last an hour too. */
function inOrder(marks: ReadonlyMap<number, CacheTtl>): CacheMarks {
  const sorted = [...marks].toSorted(([a], [b]) => a - b);
  const lastHour = sorted.findLastIndex(([, ttl]) => ttl === '1h');
  return new Map(sorted.map(([place, ttl], i) => [place, i <= lastHour ? '1h' : ttl]));
}
