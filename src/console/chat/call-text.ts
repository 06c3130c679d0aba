import type { TruncatedValue } from '../../broadcasting/envelope.ts';
import { isRecord, parseJson, type JsonValue } from '../../json.ts';
import type { ToolCallItem } from '../../react/tool-calls.tsx';
import { isTruncated } from '../../ui/message-list.ts';
import type { UiToolCall } from '../../ui/ui-message.ts';
import type { GlyphName } from '../glyphs.tsx';
import { callStatusOf, type CallKind } from './call-status.ts';
import { counted, durationText } from '../../number-text.ts';
import type { CallItem } from './turn-items.ts';

export type Tone = 'plain' | 'go' | 'warn' | 'bad';

/** Tag at the end of a row: the result in two or three words. */
export interface CallTag {
  readonly text: string;
  readonly tone: Tone;
}

export const callGlyph: Readonly<Record<CallKind, GlyphName>> = {
  writing: 'working',
  running: 'working',
  waiting: 'paused',
  asking: 'paused',
  done: 'done',
  failed: 'failed',
  timeout: 'failed',
  lost: 'failed',
  denied: 'cancelled',
  aborted: 'cancelled',
  blocked: 'cancelled',
  none: 'cancelled',
};

export function callTag(item: CallItem): CallTag {
  const { row, fact } = item;
  const { kind, reason } = callStatusOf(row, fact);
  switch (kind) {
    case 'writing':
      return { text: 'writing arguments…', tone: 'plain' };
    case 'running':
      return retried(item) ?? { text: '', tone: 'plain' };
    case 'waiting':
      return { text: 'needs approval', tone: 'go' };
    case 'asking':
      return { text: 'needs an answer', tone: 'go' };
    case 'denied':
    case 'aborted':
    case 'blocked':
      return { text: reason, tone: 'plain' };
    case 'lost':
      return { text: 'effect unknown after a crash, not run again', tone: 'bad' };
    case 'timeout':
      return { text: 'timeout', tone: 'bad' };
    case 'failed':
      return { text: triesOf(item) > 1 ? `failed ${triesOf(item)} times` : 'failed', tone: 'bad' };
    case 'none':
      return { text: 'no result', tone: 'plain' };
    default:
      return retried(item) ?? { text: answered(item) ?? resultText(row), tone: 'plain' };
  }
}

export const triesOf = ({ tries }: CallItem): number =>
  tries.filter(({ kind }) => kind === 'call').length;

function retried(item: CallItem): CallTag | null {
  const { fact } = item;
  const count = fact?.bar.retry?.number ?? triesOf(item) - 1;
  if (count < 1) return null;
  const limit = fact?.bar.retry?.limit ?? null;
  const often = count === 1 ? 'once' : `${count} times`;
  return { text: limit === null ? `retried ${often}` : `retried ${count}/${limit}`, tone: 'warn' };
}

function answered({ fact }: CallItem): string | null {
  const { answer = null, pausedMs = 0 } = fact?.bar ?? {};
  if (answer === null || answer === 'denied') return null;
  const how = answer === 'edited' ? 'approved with changes' : 'approved by you';
  return pausedMs > 0 ? `${how} · ${durationText(pausedMs)}` : how;
}

/** Returns "2 results" or "lead_2231": a short description of a result, or ''. */
function resultText({ result }: ToolCallItem): string {
  const value = result?.metadata.tool_result;
  if (value === undefined) return '';
  if (isTruncated(value)) return 'long result';
  return valueTag(value);
}

const longest = 32;

export function valueTag(value: JsonValue | TruncatedValue): string {
  if (Array.isArray(value)) return counted(value.length, 'result');
  if (value === null) return 'nothing';
  if (typeof value === 'string')
    return value.length <= longest && !value.includes('\n') ? value : '';
  if (typeof value !== 'object') return String(value);
  const record = value as Readonly<Record<string, unknown>>;
  const lists = Object.values(record).filter((one) => Array.isArray(one));
  if (lists.length === 1) return counted((lists[0] as readonly unknown[]).length, 'result');
  const { id } = record;
  return typeof id === 'string' && id.length <= longest ? id : '';
}

/** Argument names that add nothing to their value. */
const plain =
  /^(?:id|name|title|type|kind|entity|query|q|search|text|question|domain|email|url|path|.*[_a-z](?:_id|Id))$/;

/** Formats arguments in one line: self-explanatory values without their name, others with it. */
export function argsLine({ args, args_summary: summary, partial }: UiToolCall): string {
  if (partial) return summary;
  const read =
    typeof args === 'object' && args !== null && !isTruncated(args) ? args : readObject(summary);
  if (!isRecord(read)) return summary;
  return Object.entries(read)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return typeof value === 'string' && plain.test(name) ? text : `${name} ${text}`;
    })
    .join(' · ');
}

const readObject = (text: string): unknown => {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : null;
};

const ordinals = ['First', 'Second', 'Third', 'Fourth', 'Fifth', 'Sixth', 'Seventh', 'Eighth'];

/** Returns "First attempt", "12th attempt". */
export const tryName = (number: number): string =>
  `${ordinals[number - 1] ?? `${number}th`} attempt`;
