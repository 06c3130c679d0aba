import { isRecord, sameJson } from '../json.ts';
import type { TruncatedValue } from '../broadcasting/envelope.ts';
import type { UiRun } from './log-snapshot.ts';
import type { UiMessage, UiToolCall } from './ui-message.ts';

export type MessageList = readonly UiMessage[];

/** Range of the answers to a message: after it, up to the next user message. */
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

/** Returns the last index in the turn that matches, or -1. */
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

export const inserted = (rows: MessageList, index: number, row: UiMessage): MessageList =>
  index === rows.length ? [...rows, row] : rows.toSpliced(index, 0, row);

export const without = (rows: MessageList, id: string): MessageList =>
  rows.some((row) => row.id === id) ? rows.filter((row) => row.id !== id) : rows;

/**
 * Whether a value is a truncated value. It must have exactly these two fields, because a result may have similar
 * ones.
 */
export const isTruncated = (value: unknown): value is TruncatedValue =>
  isRecord(value) &&
  typeof value['ref'] === 'string' &&
  typeof value['summary'] === 'string' &&
  Object.keys(value).length === 2;

/** Creates a row, whose text may be truncated. */
export const rowOf = (
  row: Pick<UiMessage, 'id' | 'role' | 'timestamp'>,
  content: string | TruncatedValue,
): UiMessage =>
  isTruncated(content)
    ? { ...row, content: content.summary, metadata: { content_ref: content.ref } }
    : { ...row, content, metadata: noMetadata };

const noMetadata: UiMessage['metadata'] = Object.freeze({});

/** Returns the new list with old objects where they are equal; the old list if all are. */
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
