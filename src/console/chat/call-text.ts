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
  next: 'waiting',
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

/** Returns what the row says at its end: the marks of the record, then the result. */
export function callTag(item: CallItem): CallTag {
  const { row, fact } = item;
  const { kind, reason } = callStatusOf(row, fact);
  const marks = [retryText(item), approvalText(item)].filter((text) => text !== null);
  const tag = (text: string, tone: Tone = 'plain'): CallTag => ({
    text: [...marks, text].filter(Boolean).join(' · '),
    tone,
  });
  switch (kind) {
    case 'writing':
      return tag('');
    case 'next':
      return tag('runs next');
    case 'running':
      return tag('');
    case 'waiting':
      return tag('needs approval', 'go');
    case 'asking':
      return tag('needs your input', 'go');
    case 'denied':
    case 'aborted':
    case 'blocked':
      return { text: reason, tone: 'plain' };
    case 'lost':
      return tag('effect unknown after a crash, not run again', 'bad');
    case 'timeout':
      return tag('timed out', 'bad');
    case 'failed':
      return tag('failed', 'bad');
    case 'none':
      return tag('no result');
    default:
      return tag(childText(item) ?? resultText(row));
  }
}

/** Returns "retry 1 of 3", from the record or the trace; null for a first attempt. */
function retryText({ row, fact }: CallItem): string | null {
  const retry = row.result?.metadata.tool_retry ?? fact?.bar.retry ?? null;
  if (retry === null) return null;
  return retry.limit === null ? `retry ${retry.number}` : `retry ${retry.number} of ${retry.limit}`;
}

/** Returns "approved by you", from the record or the trace; null if no approval was needed. */
function approvalText({ row, fact }: CallItem): string | null {
  const { tool_approval: recorded } = row.result?.metadata ?? {};
  const { answer = null, pausedMs = 0, approval } = fact?.bar ?? {};
  const decision = recorded?.decision ?? answer;
  if (decision === null || decision === 'denied') return null;
  if (recorded?.remembered ?? approval?.rememberedAt !== undefined) return 'always allowed';
  const how = decision === 'edited' ? 'approved by you, edited' : 'approved by you';
  return pausedMs > 0 ? `${how} after ${durationText(pausedMs)}` : how;
}

/** Returns "agent · 3 steps" for a call that ran an agent. */
function childText({ fact }: CallItem): string | null {
  const child = fact?.bar.child;
  return child ? `agent · ${counted(child.steps, 'step')}` : null;
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
