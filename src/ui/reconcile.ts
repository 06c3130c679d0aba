import { sameJson } from '../json.ts';
import { isTemporary } from './reducer-state.ts';
import { callsOf, sameItems, type MessageList } from './message-list.ts';
import { isSaid } from './sent-messages.ts';
import type { UiMessage } from './ui-message.ts';

/**
 * Merges the server's conversation with what only the stream has: errors, stops, tool durations and newer messages.
 * Equal messages stay the same objects.
 */
export function reconcileMessages(streamed: MessageList, canonical: MessageList): MessageList {
  const partner = partners(streamed, canonical);
  const merged = new Map<UiMessage, UiMessage>();
  for (const [ours, theirs] of partner) merged.set(theirs, mergedRow(ours, theirs));
  const result: UiMessage[] = [];
  /** Inserts rows that only the stream has before the next row that both have. */
  let waiting: UiMessage[] = [];
  const before = new Map<UiMessage, UiMessage[]>();
  const confirmed = confirmedUserRows(streamed, canonical, partner);
  for (const ours of streamed) {
    const theirs = partner.get(ours);
    if (theirs) {
      before.set(theirs, [...(before.get(theirs) ?? []), ...waiting]);
      waiting = [];
    } else if (stays(ours) && !confirmed.has(ours)) waiting.push(ours);
  }
  for (const theirs of canonical)
    result.push(...(before.get(theirs) ?? []), merged.get(theirs) ?? theirs);
  result.push(...waiting);
  return sameItems(streamed, result) ? streamed : result;
}

const stays = (row: UiMessage): boolean => row.metadata.pending === true || !isTemporary(row);

/** Merges a row: the server wins, missing fields are kept. */
function mergedRow(ours: UiMessage, theirs: UiMessage): UiMessage {
  const { streaming: _s, pending: _p, content_ref: _c, ...kept } = ours.metadata;
  const row = { ...theirs, metadata: { ...kept, ...theirs.metadata } };
  return sameJson(ours, row) ? ours : row;
}

/** Pairs each streamed row with a row of the server: by id, else by the calls of the same turn. */
function partners(streamed: MessageList, canonical: MessageList): Map<UiMessage, UiMessage> {
  const ids = new Map(canonical.map((row) => [row.id, row]));
  const calls = new Map<string, UiMessage>();
  for (const [row, turn] of turns(canonical))
    for (const key of callKeys(row)) calls.set(`${turn} ${key}`, row).set(key, row);
  const found = new Map<UiMessage, UiMessage>();
  const taken = new Set<UiMessage>();
  const take = (ours: UiMessage, theirs: UiMessage | undefined): void => {
    if (!theirs || taken.has(theirs) || theirs.role !== ours.role) return;
    found.set(ours, theirs);
    taken.add(theirs);
  };
  for (const row of streamed) take(row, ids.get(row.id));
  for (const [row, turn] of turns(streamed)) {
    if (found.has(row)) continue;
    const [key] = callKeys(row);
    if (key !== undefined) take(row, calls.get(`${turn} ${key}`) ?? calls.get(key));
  }
  return found;
}

/** Returns keys of calls by turn, because call ids are unique only within an execution. */
function turns(rows: MessageList): [UiMessage, string][] {
  let turn = '';
  return rows.map((row) => {
    if (row.role === 'user') turn = row.id;
    return [row, turn];
  });
}

function callKeys(row: UiMessage): string[] {
  const { tool_call_id } = row.metadata;
  if (tool_call_id !== undefined) return [`result ${tool_call_id}`];
  return callsOf(row).map(({ id }) => `call ${id}`);
}

/** Finds pending user messages that the server has, each paired with one of its messages. */
function confirmedUserRows(
  streamed: MessageList,
  canonical: MessageList,
  partner: ReadonlyMap<UiMessage, UiMessage>,
): Set<UiMessage> {
  const known = new Set(partner.values());
  const fresh = canonical.filter((row) => row.role === 'user' && !known.has(row));
  const confirmed = new Set<UiMessage>();
  for (const ours of streamed) {
    if (ours.metadata.pending !== true) continue;
    const index = fresh.findIndex(({ content }) => isSaid(ours.content, content));
    if (index < 0) continue;
    fresh.splice(0, index + 1);
    confirmed.add(ours);
  }
  return confirmed;
}
