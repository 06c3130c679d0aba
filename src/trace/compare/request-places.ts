import { safeEnd } from '../../errors/excerpt.ts';
import type { InferenceRequest } from '../../inference/inference-driver.ts';
import type { Message } from '../../messages/message.ts';
import type { StoredModelCall } from '../../sessions/requests/read-model-call.ts';
import type { Cause, RequestPlace } from './comparison.ts';

/** Most places that are named, and most characters of one side. */
const MOST_PLACES = 20;
const MOST_CHARACTERS = 600;

type Side = Pick<StoredModelCall, 'request' | 'status' | 'redactor'>;

/** Returns how two requests differ: system prompt by line, tools by name, settings, then messages in order. */
export function causeOf(left: Side, right: Side): Cause {
  const [a, b] = [left.request, right.request];
  if (a === null || b === null) {
    const status = a === null ? left.status : right.status;
    return { status, places: [], hasMore: false };
  }
  const pairs = [
    ...linePairs(a, b),
    ...toolPairs(a, b),
    ...settingPairs(a, b),
    ...messagePairs(a, b),
  ];
  const places = pairs
    .slice(0, MOST_PLACES)
    .map(([where, one, other]) =>
      placeOf(where, one && left.redactor.text(one), other && right.redactor.text(other)),
    );
  return { status: 'stored', places, hasMore: pairs.length > MOST_PLACES };
}

type Pair = readonly [where: string, left: string | null, right: string | null];

function placeOf(where: string, left: string | null, right: string | null): RequestPlace {
  const [one, other] = [left ?? '', right ?? ''];
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  // a difference far behind is shown with a little of what is before it
  const start = same > MOST_CHARACTERS / 2 ? same - 100 : 0;
  const part = (text: string | null): string | null =>
    text === null ? null : (start > 0 ? '…' : '') + cut(text.slice(start));
  return { where, left: part(left), right: part(right), same: same - start + (start > 0 ? 1 : 0) };
}

const cut = (text: string): string =>
  text.length <= MOST_CHARACTERS ? text : `${text.slice(0, safeEnd(text, MOST_CHARACTERS))}…`;

/** Pairs the lines between the equal ones at the beginning and the end. */
function linePairs(
  { system: a }: InferenceRequest,
  { system: b }: InferenceRequest,
): readonly Pair[] {
  if (a === b) return [];
  const [one, other] = [a?.split('\n') ?? [], b?.split('\n') ?? []];
  let first = 0;
  while (first < one.length && first < other.length && one[first] === other[first]) first += 1;
  let last = 0;
  const most = Math.min(one.length, other.length) - first;
  while (last < most && one.at(-1 - last) === other.at(-1 - last)) last += 1;
  const count = Math.max(one.length, other.length) - last - first;
  return Array.from({ length: count }, (_, i): Pair => {
    const at = first + i;
    const lineOf = (lines: readonly string[]): string | null =>
      at < lines.length - last ? (lines[at] ?? null) : null;
    return [`system prompt, line ${at + 1}`, lineOf(one), lineOf(other)];
  }).filter(([, before, after]) => before !== after);
}

function toolPairs(
  { tools: a }: InferenceRequest,
  { tools: b }: InferenceRequest,
): readonly Pair[] {
  const texts = (tools: InferenceRequest['tools']): Map<string, string> =>
    new Map(tools.map((tool) => [tool.name, JSON.stringify(tool)]));
  const [one, other] = [texts(a), texts(b)];
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((name): Pair[] => {
    const [before = null, after = null] = [one.get(name), other.get(name)];
    return before === after ? [] : [[`tool ${name}`, before, after]];
  });
}

function settingPairs(a: InferenceRequest, b: InferenceRequest): readonly Pair[] {
  const parts = [
    ['tool choice', a.toolChoice, b.toolChoice],
    ['response format', a.responseFormat, b.responseFormat],
  ] as const;
  return parts.flatMap(([where, before, after]): Pair[] => {
    const [one, other] = [JSON.stringify(before), JSON.stringify(after)];
    return one === other ? [] : [[where, one, other]];
  });
}

function messagePairs(
  { messages: a }: InferenceRequest,
  { messages: b }: InferenceRequest,
): readonly Pair[] {
  const pairs: Pair[] = [];
  for (let i = 0; i < Math.max(a.length, b.length) && pairs.length <= MOST_PLACES; i++) {
    const [one, other] = [textOf(a.at(i)), textOf(b.at(i))];
    const { role = '' } = a.at(i) ?? b.at(i) ?? {};
    if (one !== other) pairs.push([`message ${i + 1} (${role})`, one, other]);
  }
  return pairs;
}

/** What the model reads of a message: ids and times are no difference. */
function textOf(message: Message | undefined): string | null {
  if (!message) return null;
  const { role, text, content, toolCalls } = message;
  const calls = toolCalls.map(({ name, args }) => `→ ${name} ${JSON.stringify(args)}`);
  const parts = typeof content === 'string' ? [] : content.filter(({ type }) => type !== 'text');
  const files = parts.map((part) => `[${JSON.stringify(part).slice(0, 200)}]`);
  return [text, ...calls, ...files].filter(Boolean).join('\n') || `(empty ${role} message)`;
}
