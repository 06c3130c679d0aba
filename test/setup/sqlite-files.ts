import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll } from 'vitest';
import type { MessageRow, NewSessionRow } from '../../src/sessions/session-rows.ts';
import type { Commit, SessionStore } from '../../src/sessions/session-store.ts';
import {
  openDatabase,
  type SqliteDatabase,
} from '../../src/sessions/stores/sqlite/sqlite-database.ts';
import { removeFolder } from './folders.ts';
import { newSessionRow } from './session-row.ts';

/** A folder for the files of this test file, removed at the end. */
export const folder: string = mkdtempSync(join(tmpdir(), 'onward-sqlite-'));
afterAll(() => removeFolder(folder));

let files = 0;
export const newPath = (): string => join(folder, `file-${++files}`, 'sessions.db');
/** A file with sessions that this process has never opened. */
export function oldFile(): string {
  const path = newPath();
  mkdirSync(dirname(path));
  writeFileSync(path, gunzipSync(readFileSync('test/fixtures/sqlite/2-release-0.1.0.db.gz')));
  return path;
}
export const open = (path: string, options = {}): Promise<SqliteDatabase> =>
  openDatabase({ path, durability: 'process', busyTimeoutMs: 1000, ...options });

export const at = '2026-01-01T00:00:00.000Z';
export const session = (id: string): NewSessionRow => newSessionRow(id, { owner: 'o' });
const command = { kind: 'message', executionId: 'e', body: '{}', at } as const;
export const message = (position: number, body = '{}'): MessageRow => ({
  agentId: '',
  position,
  role: 'user',
  body,
});

/** Claims a session as a worker and returns a function for its next commits. */
export async function held(
  store: SessionStore,
  id: string,
): Promise<(parts?: Partial<Commit>) => Commit> {
  await store.create(session(id));
  await store.accept(id, command, { phases: ['idle'] });
  const row = await store.claim(id, { worker: `worker of ${id}`, ttlMs: 60_000 });
  if (!row) throw new Error(`${id} is held by another`);
  const { token } = row;
  let revision = 0;
  return (parts) => ({ sessionId: id, token, revision: revision++, at, ...parts });
}
