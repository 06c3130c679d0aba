import type { CommandRow } from '../../session-rows.ts';
import type { RowRange } from '../../session-store.ts';
import type { KeyValueRange } from './key-value-driver.ts';
import type { KeptLease } from '../attempt-rules.ts';

/** Main entry of a session. Every change of a session updates it, so writes are checked against its text. */
export interface KeptSession extends KeptLease {
  readonly lastCommand: number;
  /** Version of the session's index entries. Release 0.1.0 did not write it. */
  readonly layout?: 2;
  /** Number of writes, so that no two texts of a session are the same. */
  readonly changes: number;
}

export type Table =
  | 'command'
  | 'execution'
  | 'message'
  | 'step'
  | 'compaction'
  | 'agent'
  | 'call'
  | 'wait'
  | 'event'
  | 'blob'
  | 'run';

/** Escapes a text to lowercase characters, so that a case-insensitive database does not confuse two keys. */
const escaped = (text: string): string =>
  // each surrogate by itself: a name need not be well-formed
  // oxlint-disable-next-line require-unicode-regexp
  text.replace(/[^a-z0-9_.-]/g, (char) => `~${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Encodes a part of a key. Numbers are padded so that they sort as text. */
const part = (value: string | number): string =>
  typeof value === 'number' ? String(value).padStart(12, '0') : escaped(value);

const path = (...parts: readonly (string | number)[]): string => parts.map(part).join('/');

export const sessionKey = (id: string): string => path('session', id);

export const rowKey = (id: string, table: Table, ...parts: readonly (string | number)[]): string =>
  path('of', id, table, ...parts);

/** Returns the table of an entry of a session. */
export const tableOf = (key: string): string | undefined => key.split('/')[2];

/** Returns the key of the same entry in another session. */
export const movedKey = (key: string, id: string): string =>
  ['of', part(id), ...key.split('/').slice(2)].join('/');

/** Returns the key of a command. A resume sorts before messages. */
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

/** Key under which a time range finds a run record. */
export const byEnd = (endedAt: string, id: string, executionId: string): string =>
  path('ran', endedAt, id, executionId);

export const reportKey = (worker: string): string => path('report', worker);

/** Returns the owner in a key that {@link byAgent} created. */
export const ownerIn = (key: string): string =>
  (key.split('/')[2] ?? '').replaceAll(/~([0-9a-f]{4})/g, (_char, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

/** Returns the index keys under which lists, workers and recovery find the session. Each index entry holds its id. */
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

/** Returns the range of all keys under a path. `0` is the character after `/`. */
export const under = (...parts: readonly (string | number)[]): KeyValueRange => ({
  from: `${path(...parts)}/`,
  before: `${path(...parts)}0`,
  reverse: false,
  limit: Number.MAX_SAFE_INTEGER,
});

/** Returns the range of the newest rows that fit, newest first. */
export const inRange = (rows: KeyValueRange, { from, before, limit }: RowRange): KeyValueRange => ({
  from: from === undefined ? rows.from : rows.from + part(from),
  before: before === undefined ? rows.before : rows.from + part(before),
  reverse: true,
  limit: limit ?? rows.limit,
});
