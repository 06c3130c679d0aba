import { isRecord, sameJson } from '../json.ts';
import type { TruncatedValue } from '../broadcasting/envelope.ts';
import type { UiRun } from './log-snapshot.ts';
import type { UiMessage, UiToolCall } from './ui-message.ts';

export type MessageList = readonly UiMessage[];

/** Where the answers to a message are: behind it, up to the next thing a user said. */
export interface Turn {
  readonly start: number;
  readonly end: number;
}

/** The rows that the next envelope of a run may change. */
export function reachOf(
  rows: MessageList,
  run: Pick<UiRun, 'inputId' | 'rowId' | 'isOverlaid' | 'hasHole'>,
): Turn {
  if (run.isOverlaid || run.hasHole) return turnOf(rows, run.inputId);
  const end = rows.length;
  if (run.rowId === null) return { start: end, end };
  let start = end - 1;
  while (start > 0 && rows[start]?.id !== run.rowId) start--;
  return { start: Math.max(start, 0), end };
}

export function turnOf(rows: MessageList, inputId: string | null): Turn {
  const input =
    inputId === null ? -1 : rows.findLastIndex(({ id, role }) => id === inputId && role === 'user');
  if (input < 0)
    return { start: rows.findLastIndex(({ role }) => role === 'user') + 1, end: rows.length };
  let end = input + 1;
  while (end < rows.length && rows[end]?.role !== 'user') end++;
  return { start: input + 1, end };
}

/** The last place in the turn that fits, or -1. */
export function findInTurn(
  rows: MessageList,
  { start, end }: Turn,
  fits: (row: UiMessage) => boolean,
): number {
  for (let i = end - 1; i >= start; i--) {
    const row = rows[i];
    if (row && fits(row)) return i;
  }
  return -1;
}

export const callsOf = ({ metadata }: UiMessage): readonly UiToolCall[] =>
  metadata.tool_calls ?? [];

export const hasCall = (row: UiMessage, callId: string): boolean =>
  callsOf(row).some(({ id }) => id === callId);

export const inserted = (rows: MessageList, place: number, row: UiMessage): MessageList =>
  place === rows.length ? [...rows, row] : rows.toSpliced(place, 0, row);

export const without = (rows: MessageList, id: string): MessageList =>
  rows.some((row) => row.id === id) ? rows.filter((row) => row.id !== id) : rows;

/** Nothing but these two: a result may have such fields of its own. */
export const isCut = (value: unknown): value is TruncatedValue =>
  isRecord(value) &&
  typeof value['ref'] === 'string' &&
  typeof value['summary'] === 'string' &&
  Object.keys(value).length === 2;

/** A row whose text may have been too long for its frame. */
export const rowOf = (
  row: Pick<UiMessage, 'id' | 'role' | 'timestamp'>,
  content: string | TruncatedValue,
): UiMessage =>
  isCut(content)
    ? { ...row, content: content.summary, metadata: { content_ref: content.ref } }
    : { ...row, content, metadata: noMetadata };

const noMetadata: UiMessage['metadata'] = Object.freeze({});

/** The new list, made of the old objects where they say the same; the old list where all do. */
export function keepingOld(before: MessageList, after: MessageList): MessageList {
  if (before === after) return before;
  const old = new Map(before.map((row) => [row.id, row]));
  const kept = after.map((row) => {
    const known = old.get(row.id);
    return known && sameJson(known, row) ? known : row;
  });
  return sameItems(before, kept) ? before : kept;
}

export const sameItems = (a: MessageList, b: MessageList): boolean =>
  a.length === b.length && a.every((row, i) => row === b[i]);
