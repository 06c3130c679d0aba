import { safeEnd } from '../../errors/excerpt.ts';
import { REDACTED, type Redactor } from '../../errors/redactor.ts';
import { fileFacts, fileText } from '../../file-facts.ts';
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
    ...linePairs(left, right),
    ...toolPairs(left, right),
    ...settingPairs(left, right),
    ...messagePairs(left, right),
  ];
  const places = pairs.slice(0, MOST_PLACES).map((pair) => placeOf(...pair));
  return { status: 'stored', places, hasMore: pairs.length > MOST_PLACES };
}

/** Redacted, before anything is split or joined: a secret may be recognized by what is around it. */
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
function linePairs(left: Side, right: Side): readonly Pair[] {
  const [before, after] = [left.request?.system ?? '', right.request?.system ?? ''];
  if (before === after) return [];
  const [a, b] = [left.redactor.text(before), right.redactor.text(after)];
  // nothing else differs
  if (a === b) return [['system prompt', REDACTED, REDACTED]];
  const [one, other] = [linesOf(a), linesOf(b)];
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
  }).filter(([, before_, after_]) => before_ !== after_);
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));

/** Pairs values as JSON; none if they are equal. */
function jsonPair(where: string, values: readonly [unknown, unknown], sides: Sides): Pair[] {
  const [before, after] = values.map((value) => JSON.stringify(value));
  if (before === after) return [];
  const [one = null, other = null] = sides.map(({ redactor }, i) =>
    values[i] === undefined ? null : JSON.stringify(redactor.value(values[i])),
  );
  return [[where, one, other]];
}

type Sides = readonly [left: Side, right: Side];

function toolPairs(left: Side, right: Side): readonly Pair[] {
  const byName = ({ request }: Side): ReadonlyMap<string, unknown> =>
    new Map(request?.tools.map((tool) => [tool.name, tool]));
  const [one, other] = [byName(left), byName(right)];
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((name) =>
    jsonPair(`tool ${name}`, [one.get(name), other.get(name)], [left, right]),
  );
}

function settingPairs(left: Side, right: Side): readonly Pair[] {
  const parts = [
    ['tool choice', 'toolChoice'],
    ['response format', 'responseFormat'],
  ] as const;
  return parts.flatMap(([where, key]) =>
    jsonPair(where, [left.request?.[key], right.request?.[key]], [left, right]),
  );
}

function messagePairs(left: Side, right: Side): readonly Pair[] {
  const pairs: Pair[] = [];
  const [a, b] = [left.request?.messages, right.request?.messages];
  const count = Math.max(a?.length ?? 0, b?.length ?? 0);
  for (let i = 0; i < count && pairs.length <= MOST_PLACES; i++) {
    const [one, other] = [a?.at(i), b?.at(i)];
    const { role = '' } = one ?? other ?? {};
    if (textOf(one) !== textOf(other))
      pairs.push([
        `message ${i + 1} (${role})`,
        textOf(one, left.redactor),
        textOf(other, right.redactor),
      ]);
  }
  return pairs;
}

/** What the model reads of a message: ids and times are no difference. */
function textOf(message: Message | undefined, redactor: Redactor | null = null): string | null {
  if (!message) return null;
  const { role, text, content, toolCalls } = message;
  const plain = (value: unknown): string => JSON.stringify(redactor?.value(value) ?? value);
  const calls = toolCalls.map(({ name, args }) => `→ ${name} ${plain(args)}`);
  const parts = typeof content === 'string' ? [] : content.filter(({ type }) => type !== 'text');
  const files = parts.map((part) =>
    redactor ? `[${redactor.text(fileText(fileFacts(part)))}]` : plain(part),
  );
  const said = redactor?.text(text) ?? text;
  return [said, ...calls, ...files].filter(Boolean).join('\n') || `(empty ${role} message)`;
}
