import type { Envelope } from '../broadcasting/envelope.ts';
import { own } from '../json.ts';
import { applyEnvelope } from './apply-envelope.ts';
import { entered, hasHoles, isEnd, withoutHoles, type LogSnapshot } from './log-snapshot.ts';

/** An entry of the log: an envelope, or a fact about the log at this position. */
export interface Entry {
  readonly executionId: string;
  readonly seq: number;
  /**
   * `opened`: it runs, but its log was not seen. `known`: nothing up to here is missing. `read`: nothing after it
   * either.
   */
  readonly what: Envelope | 'opened' | 'known' | 'read';
}

/**
 * The newest part of the log. A late entry is inserted and later ones are applied again, so the view depends on what
 * is known and not on the order of arrival.
 */
export interface LogWindow {
  /** State before the entries. */
  readonly base: LogSnapshot;
  /** Entries in log order, grouped by execution. */
  readonly entries: readonly Entry[];
  readonly snapshot: LogSnapshot;
  /** Execution ids, oldest first. */
  readonly order: readonly string[];
  /** Time at which the newest of them was first seen. */
  readonly since: string;
}

/** Maximum entries while nothing is missing. */
const KEPT = 50;
/** Maximum entries while there is a gap; beyond that, the gap is skipped. */
const MAX_KEPT = 1_000;

export const newWindow = (snapshot: LogSnapshot): LogWindow => ({
  base: snapshot,
  entries: [],
  snapshot,
  order: snapshot.run ? [...Object.keys(snapshot.behind), snapshot.run.id] : [],
  since: '',
});

/** Adds entries in any order; returns the same window if all are known. `at` is the time of entries without one. */
export function withEntries(window: LogWindow, entries: readonly Entry[], at: string): LogWindow {
  const fresh: Entry[] = [];
  let known = window;
  for (const entry of entries) {
    if (isKnown(known, entry, fresh)) continue;
    fresh.push(entry);
    known = { ...known, ...ordered(known, entry.executionId, timeOf(entry) ?? at) };
  }
  return fresh.length === 0 ? window : trimmed(merged(known, fresh));
}

/** Applies entries after the newest one; for any other order, applies the whole window again. */
function merged(window: LogWindow, fresh: readonly Entry[]): LogWindow {
  const { entries, order, snapshot, base } = window;
  const all = [...entries, ...fresh];
  if (all.every((entry, i) => i < entries.length || compare(order, all[i - 1], entry) < 0))
    return { ...window, entries: all, snapshot: fresh.reduce(apply, snapshot) };
  return refolded({ ...window, entries: all.toSorted((a, b) => compare(order, a, b)) }, base);
}

export const refolded = (window: LogWindow, base: LogSnapshot): LogWindow => ({
  ...window,
  base,
  snapshot: window.entries.reduce(apply, base),
});

function apply(snapshot: LogSnapshot, { executionId, seq, what }: Entry): LogSnapshot {
  if (typeof what === 'object') return applyEnvelope(snapshot, what);
  const there = entered(snapshot, executionId);
  const { run } = there;
  if (what === 'opened') return { ...there, run: { ...run, hasHole: run.last === 0 } };
  const after = Math.max(run.after, seq);
  const isOverlaid = run.isOverlaid || run.hasHole;
  return { ...there, run: { ...run, after, hasHole: false, isRead: what === 'read', isOverlaid } };
}

const timeOf = ({ what }: Entry): string | null =>
  typeof what === 'object' ? what.timestamp : null;

/** Whether an entry was seen, or is older than everything that can still change. */
function isKnown(window: LogWindow, entry: Entry, fresh: readonly Entry[]): boolean {
  const { base, snapshot, entries } = window;
  const { executionId, seq, what } = entry;
  if (Object.hasOwn(base.behind, executionId)) return true;
  const settled = base.run?.id === executionId ? base.run.last : 0;
  if (what === 'opened')
    return snapshot.run?.id === executionId || Object.hasOwn(snapshot.behind, executionId);
  if (what === 'known' || what === 'read') {
    if (seq < settled) return true;
    const known =
      snapshot.run?.id === executionId ? snapshot.run : own(snapshot.behind, executionId);
    return known !== undefined && known.after >= seq && !known.hasHole;
  }
  if (seq <= settled) return true;
  const isMatch = (other: Entry): boolean =>
    other.seq === seq && other.executionId === executionId && typeof other.what === 'object';
  // an entry after all others is usually the next one
  const isNews = snapshot.run?.id === executionId && seq > snapshot.run.last;
  return (!isNews && entries.some(isMatch)) || fresh.some(isMatch);
}

const ranks = { opened: 0, known: 2, read: 3 } as const;
const rankOf = ({ what }: Entry): number => (typeof what === 'object' ? 1 : ranks[what]);

function compare(order: readonly string[], a: Entry | undefined, b: Entry): number {
  if (a === undefined) return -1;
  if (a.executionId !== b.executionId)
    return order.lastIndexOf(a.executionId) - order.lastIndexOf(b.executionId);
  return a.seq - b.seq || rankOf(a) - rankOf(b);
}

/**
 * Adds an execution as the newest, because a session runs one at a time. If another still runs, server time decides:
 * a client that has just joined may get the last envelopes of the previous execution.
 */
function ordered(
  { order, since, snapshot }: LogWindow,
  id: string,
  at: string,
): Pick<LogWindow, 'order' | 'since'> {
  if (order.at(-1) === id) return { order, since: since === '' || at < since ? at : since };
  if (order.includes(id)) return { order, since };
  const { run } = snapshot;
  const isOlder = run !== null && order.at(-1) === run.id && !isEnd(run.status) && at < since;
  return isOlder
    ? { order: order.toSpliced(-1, 0, id), since }
    : { order: [...order, id], since: at };
}

/** Drops old entries and keeps their effect, including gaps. */
function trimmed(window: LogWindow): LogWindow {
  const { entries, base, snapshot } = window;
  const most = hasHoles(snapshot) ? MAX_KEPT : KEPT * 2;
  if (entries.length <= most) return window;
  const left = entries.slice(0, -KEPT).reduce(apply, base);
  const next = { ...window, base: withoutHoles(left), entries: entries.slice(-KEPT) };
  return hasHoles(left) ? refolded(next, next.base) : next;
}
