import { isSessionId } from '../check-names.ts';
import type { LiveStreamed, StreamedEvent, StreamedText } from '../feed/live-source.ts';

/** Consecutive pieces of one text, with their shared fields stored once. */
export interface LiveText {
  readonly sessionId: string;
  readonly owner: string;
  readonly follows: number;
  /** The first piece, without its text. */
  readonly first: StreamedEvent;
  /** The texts of all pieces. */
  readonly texts: string[];
  /** Whether the last piece continues with the next text: it was too large for a message. */
  readonly isPart?: boolean;
}

const textOf = (event: StreamedEvent): string =>
  event.type === 'ToolCallDelta' ? event.argsDelta : event.content;

const isSameText = (a: StreamedText, b: StreamedText): boolean =>
  a.type === b.type &&
  a.messageId === b.messageId &&
  a.attempt === b.attempt &&
  a.restart === b.restart;

/** Texts in the order in which they were streamed. */
export class LiveTextList {
  readonly texts: LiveText[] = [];
  /** Offset after the last piece. */
  #end = 0;

  /** Adds a piece: to the last text if it continues that one, otherwise as a new text. */
  add(live: LiveStreamed): void {
    const { sessionId, owner, follows, event } = live;
    const text = textOf(event);
    const last = this.texts.at(-1);
    if (last && event.offset === this.#end && continues(last, live)) last.texts.push(text);
    else this.texts.push({ sessionId, owner, follows, first: withText(event, ''), texts: [text] });
    this.#end = event.offset + text.length;
  }
}

/** Whether a piece belongs to the same text and has the next index. */
function continues(last: LiveText, { sessionId, follows, event }: LiveStreamed): boolean {
  const { first, texts } = last;
  if (last.sessionId !== sessionId || last.follows !== follows) return false;
  if (first.executionId !== event.executionId || first.agentId !== event.agentId) return false;
  if (first.type === 'ToolCallDelta')
    return event.type === 'ToolCallDelta' && first.toolCallId === event.toolCallId;
  if (event.type === 'ToolCallDelta') return false;
  return isSameText(first, event) && event.index === first.index + texts.length;
}

/** Returns the events as they were streamed, with the arguments of a call in one event. */
export function eventsOf({ sessionId, owner, follows, first, texts }: LiveText): LiveStreamed[] {
  const live = (event: StreamedEvent): LiveStreamed => ({
    sessionId,
    owner,
    seq: null,
    follows,
    event,
  });
  if (first.type === 'ToolCallDelta') return [live(withText(first, texts.join('')))];
  let offset = first.offset;
  return texts.map((text, i) => {
    const event = { ...first, content: text, offset, index: first.index + i };
    offset += text.length;
    return live(event);
  });
}

/** Splits a text that is too large for one message into two halves. Returns null if it cannot be split. */
export function halves(text: LiveText): readonly [LiveText, LiveText] | null {
  const { isPart, ...whole } = text;
  const { first, texts } = whole;
  const rest = isPart && { isPart };
  if (texts.length > 1) {
    const middle = texts.length >> 1;
    const before = texts.slice(0, middle);
    const offset = first.offset + before.reduce((n, { length }) => n + length, 0);
    const index = first.type === 'ToolCallDelta' ? first.index : first.index + middle;
    return [
      { ...whole, texts: before },
      { ...whole, first: { ...first, offset, index }, texts: texts.slice(middle), ...rest },
    ];
  }
  const [piece = ''] = texts;
  const middle = splitPoint(piece);
  if (middle === 0) return null;
  const offset = first.offset + middle;
  return [
    // the arguments of a call may come in any pieces
    {
      ...whole,
      texts: [piece.slice(0, middle)],
      ...(first.type !== 'ToolCallDelta' && { isPart: true }),
    },
    { ...whole, first: { ...first, offset }, texts: [piece.slice(middle)], ...rest },
  ];
}

/** Most characters of an incomplete piece, and most incomplete pieces. */
const MOST_OF_A_PIECE = 1_000_000;
const MOST_PARTS = 200;

/** Joins the parts of pieces that were too large for a message. Parts arrive in order, and some may be lost. */
export class PartJoiner {
  readonly #parts: Map<string, LiveText> = new Map();

  /** Returns the complete pieces, or null while the rest is missing. */
  join(text: LiveText): LiveText | null {
    const { sessionId, first, texts, isPart } = text;
    const key = `${sessionId} ${first.agentId} ${first.type}`;
    const before = this.#parts.get(key);
    this.#parts.delete(key);
    const [begun = ''] = before?.texts ?? [];
    const isNext = before !== undefined && isSameStart(before.first, first, begun.length);
    if (before && !isNext) return isPart ? this.#wait(key, text) : text;
    const [next = '', ...others] = texts;
    const joined = before
      ? { ...text, first: before.first, texts: [begun + next, ...others] }
      : text;
    return isPart ? this.#wait(key, joined) : joined;
  }

  /** Stores the incomplete last piece and returns the complete ones. */
  #wait(key: string, text: LiveText): LiveText | null {
    const complete = text.texts.slice(0, -1);
    const { first } = text;
    const offset = first.offset + complete.reduce((n, { length }) => n + length, 0);
    const piece = text.texts.at(-1) ?? '';
    if (piece.length <= MOST_OF_A_PIECE && this.#parts.size < MOST_PARTS)
      this.#parts.set(key, {
        ...text,
        first: { ...first, offset, index: first.index + complete.length },
        texts: [piece],
      });
    return complete.length === 0 ? null : { ...text, texts: complete, isPart: false };
  }
}

const isSameStart = (before: StreamedEvent, next: StreamedEvent, length: number): boolean =>
  before.type !== 'ToolCallDelta' &&
  next.type !== 'ToolCallDelta' &&
  before.executionId === next.executionId &&
  isSameText(before, next) &&
  before.index === next.index &&
  before.offset + length === next.offset;

/** Returns the middle, but not inside a surrogate pair; 0 if the text cannot be split. */
function splitPoint(text: string): number {
  const middle = text.length >> 1;
  const code = text.charCodeAt(middle);
  return code >= 0xdc00 && code <= 0xdfff ? middle - 1 : middle;
}

const withText = (event: StreamedEvent, text: string): StreamedEvent =>
  event.type === 'ToolCallDelta' ? { ...event, argsDelta: text } : { ...event, content: text };

const TYPES: ReadonlySet<unknown> = new Set(['StreamChunk', 'ReasoningDelta', 'ToolCallDelta']);

/** Parses the texts of a body, without those that are malformed. */
export function parseTexts(body: string): LiveText[] {
  const parsed: unknown = JSON.parse(body);
  return Array.isArray(parsed) ? parsed.filter(isLiveText) : [];
}

function isLiveText(value: unknown): value is LiveText {
  if (typeof value !== 'object' || value === null) return false;
  const { sessionId, owner, follows, first, texts, isPart } = value as Record<string, unknown>;
  if (isPart !== undefined && isPart !== true) return false;
  if (!isSessionId(sessionId) || typeof owner !== 'string' || !isCount(follows)) return false;
  if (!Array.isArray(texts) || !texts.every((text) => typeof text === 'string')) return false;
  if (typeof first !== 'object' || first === null) return false;
  const { type, agentId, executionId, index, offset, at } = first as Record<string, unknown>;
  const { messageId, toolCallId, tool } = first as Record<string, unknown>;
  const names = type === 'ToolCallDelta' ? [toolCallId, tool, agentId] : [messageId, agentId];
  return (
    TYPES.has(type) &&
    [executionId, at, ...names].every((name) => typeof name === 'string') &&
    isCount(index) &&
    isCount(offset)
  );
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
