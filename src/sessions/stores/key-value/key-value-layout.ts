import type { CommandRow } from '../../session-rows.ts';
import type { RowRange } from '../../session-store.ts';
import type { KeyValueRange } from './key-value-driver.ts';
import type { KeptLease } from '../attempt-rules.ts';

/** One session's own entry. Every change of a session goes through it, so its text is what writes are checked against. */
export interface KeptSession extends KeptLease {
  readonly lastCommand: number;
  /** Which index entries the session has. Release 0.1.0 wrote none of this. */
  readonly layout?: 2;
  /** Counts all writes, so that no two texts of a session are the same. */
  readonly changes: number;
}

export type Table =
  | 'command'
  | 'execution'
  | 'message'
  | 'step'
  | 'agent'
  | 'call'
  | 'wait'
  | 'event'
  | 'blob';

/** Lower case alone, so that no database can take two keys for one. */
const escaped = (text: string): string =>
  // each half of a pair by itself: a name need not be well-formed
  // oxlint-disable-next-line require-unicode-regexp
  text.replace(/[^a-z0-9_.-]/g, (char) => `~${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Numbers sort as text. */
const part = (value: string | number): string =>
  typeof value === 'number' ? String(value).padStart(12, '0') : escaped(value);

const path = (...parts: readonly (string | number)[]): string => parts.map(part).join('/');

export const sessionKey = (id: string): string => path('session', id);

export const rowKey = (id: string, table: Table, ...parts: readonly (string | number)[]): string =>
  path('of', id, table, ...parts);

/** The table that an entry of this session is in. */
export const tableOf = (key: string): string | undefined => key.split('/')[2];

/** The same entry in another session. */
export const movedKey = (key: string, id: string): string =>
  ['of', part(id), ...key.split('/').slice(2)].join('/');

/** A resume comes before messages. */
export const commandKey = (
  id: string,
  { kind, number }: Pick<CommandRow, 'kind' | 'number'>,
): string => rowKey(id, 'command', kind === 'resume' ? 'a' : 'b', number);

export const byChange = (updatedAt: string, id: string): string => path('changed', updatedAt, id);
export const byOwner = (owner: string, updatedAt: string, id: string): string =>
  path('owner', owner, updatedAt, id);
const byWorker = (worker: string, id: string): string => path('worker', worker, id);
const asOpen = (updatedAt: string, id: string): string => path('open', updatedAt, id);

const byAgent = (agent: string, owner: string, updatedAt: string, id: string): string =>
  path('agent', agent, owner, updatedAt, id);

export const asParked = (updatedAt: string, id: string): string => path('parked', updatedAt, id);

/** The owner in a key that {@link byAgent} made. */
export const ownerIn = (key: string): string =>
  (key.split('/')[2] ?? '').replaceAll(/~([0-9a-f]{4})/g, (_char, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

/** Where lists, workers and recovery find the session. Each such entry holds its id. */
export const indexKeys = ({ row, layout }: Omit<KeptSession, 'changes'>): readonly string[] => {
  const { id, owner, updatedAt, worker, phase, agent, stopReason } = row;
  const keys = [byChange(updatedAt, id), byOwner(owner, updatedAt, id)];
  if (worker !== null) keys.push(byWorker(worker, id));
  if (phase === 'open') keys.push(asOpen(updatedAt, id));
  if (layout === undefined) return keys;
  if (phase === 'open' && worker === null) keys.push(byAgent(agent, owner, updatedAt, id));
  if (phase === 'open' && stopReason !== null) keys.push(path('stopping', updatedAt, id));
  if (phase === 'parked') keys.push(asParked(updatedAt, id));
  return keys;
};

/** All keys under a path; `/` is followed by `0`. */
export const under = (...parts: readonly (string | number)[]): KeyValueRange => ({
  from: `${path(...parts)}/`,
  before: `${path(...parts)}0`,
  reverse: false,
  limit: Number.MAX_SAFE_INTEGER,
});

/** The newest of those rows that fit, newest first. */
export const inRange = (rows: KeyValueRange, { from, before, limit }: RowRange): KeyValueRange => ({
  from: from === undefined ? rows.from : rows.from + part(from),
  before: before === undefined ? rows.before : rows.from + part(before),
  reverse: true,
  limit: limit ?? rows.limit,
});
