import { sameJson } from '../json.ts';
import { isPassing } from './reducer-state.ts';
import { callsOf, sameItems, type MessageList } from './message-list.ts';
import { isSaid } from './sent-messages.ts';
import type { UiMessage } from './ui-message.ts';

/**
 * The conversation as the server keeps it, with what only the stream knows: errors, why it stopped, how long a tool
 * took, and what was said since. Messages that say the same stay the same objects.
 */
export function reconcileMessages(streamed: MessageList, canonical: MessageList): MessageList {
  const partner = partners(streamed, canonical);
  const merged = new Map<UiMessage, UiMessage>();
  for (const [ours, theirs] of partner) merged.set(theirs, mergedRow(ours, theirs));
  const result: UiMessage[] = [];
  /** What only the stream has goes before the next message that both have. */
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

const stays = (row: UiMessage): boolean => row.metadata.pending === true || !isPassing(row);

/** The server's words win; what it does not say is kept. */
function mergedRow(ours: UiMessage, theirs: UiMessage): UiMessage {
  const { streaming: _s, pending: _p, content_ref: _c, ...kept } = ours.metadata;
  const row = { ...theirs, metadata: { ...kept, ...theirs.metadata } };
  return sameJson(ours, row) ? ours : row;
}

/** Which message of the server each of ours is: by id, else by the calls of the same turn. */
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

/** Ids of calls are unique in an execution only. */
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

/** Our own words that the server has by now, each taken for one of its messages. */
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
    const place = fresh.findIndex(({ content }) => isSaid(ours.content, content));
    if (place < 0) continue;
    fresh.splice(0, place + 1);
    confirmed.add(ours);
  }
  return confirmed;
}
