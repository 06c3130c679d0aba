import { chmodSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  at,
  folder,
  held,
  message,
  newPath,
  open,
  session,
} from '../../../../test/setup/sqlite-files.ts';
import type { SessionStore } from '../../session-store.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { migrations } from './sqlite-schema.ts';
import { sqliteStore } from './index.ts';

const valueOf = (db: SqliteDatabase, pragma: string): unknown =>
  Object.values(db.prepare(`PRAGMA ${pragma}`).get() as object)[0];

describe('the SQLite file', () => {
  it.each([
    ['process', 1],
    ['power', 2],
  ] as const)(
    'for durability %s uses a write-ahead log with synchronous level %i',
    async (durability, level) => {
      const db = await open(newPath(), { durability });
      expect(valueOf(db, 'journal_mode')).toBe('wal');
      expect(valueOf(db, 'synchronous')).toBe(level);
      expect(valueOf(db, 'busy_timeout')).toBe(0);
      db.close();
    },
  );

  it('is created on first use with its folder, and has all data after close', async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    expect(existsSync(path)).toBe(false);
    await store.create(session('s'));
    expect(existsSync(path)).toBe(true);
    await store.close();
    expect(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  });

  it.each([0o022, 0o000])('is readable only by its owner, with umask %i', async (mask) => {
    const before = process.umask(mask);
    onTestFinished(() => void process.umask(before));
    const path = newPath();
    const store = sqliteStore({ path });
    await store.create(session('s'));
    const modes = ['', '-wal', '-shm'].map((name) => statSync(path + name).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600]);
    await store.close();
  });

  it('keeps its mode if it exists', async () => {
    const path = join(folder, 'shared.db');
    writeFileSync(path, '');
    chmodSync(path, 0o640);
    const store = sqliteStore({ path });
    await store.create(session('s'));
    await store.close();
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  it('keeps all data when it is opened again', async () => {
    const path = newPath();
    const first = sqliteStore({ path });
    const next = await held(first, 's');
    await first.commit(
      next({
        root: {
          head: '"h"',
          status: 'in_progress',
          executionId: 'e',
          messageCount: 1,
          stepCount: 1,
        },
        messages: [message(0, '"kept"')],
        steps: [{ agentId: '', position: 0, executionId: 'e', body: '1', mark: '2' }],
        calls: [{ executionId: 'e', callId: 'c', tool: 't', state: 'started' }],
        events: [{ executionId: 'e', seq: 1, type: 'T', body: '3' }],
        blobs: [{ scope: '', hash: 'h', body: '4' }],
      }),
    );
    const seen = async (store: SessionStore): Promise<unknown[]> => [
      await store.find('s'),
      await store.nextCommand('s'),
      await store.messages('s', ''),
      await store.steps('s', ''),
      await store.calls('s', 'e', { callIds: ['c'] }),
      await store.events('s', 'e', { after: 0, limit: 9 }),
      await store.blobs('s', ['h']),
      await store.size('s'),
    ];
    const before = await seen(first);
    await first.close();
    const second = sqliteStore({ path });
    expect(await seen(second)).toEqual(before);
    await second.commit(next({ messages: [message(1)] }));
    await second.close();
  });

  it('gets its tables once if it is empty', async () => {
    const path = newPath();
    const db = await open(path);
    expect(valueOf(db, 'user_version')).toBe(migrations.length);
    expect(valueOf(db, "table_info('sessions')")).toBeDefined();
    db.close();
    (await open(path)).close();
    const empty = join(folder, 'empty.db');
    writeFileSync(empty, '');
    const store = sqliteStore({ path: empty });
    expect(await store.create(session('s'))).toBe(true);
    await store.close();
  });

  it('is migrated from version 1 to the newest with all its data', async () => {
    const path = newPath();
    const db = await open(path);
    db.close();
    rmSync(path);
    const old = new (db.constructor as new (path: string) => SqliteDatabase)(path);
    old.exec(`${migrations[0]};
      PRAGMA user_version = 1; PRAGMA application_id = 0x6f6e7764; UPDATE tokens SET last = 3;
      INSERT INTO sessions VALUES (7, 's', 'o', 'support', 'in_progress', 'open', 'e', '{}', 2, 3, 'w', 9e15, NULL,
        NULL, 3, 1, 4, 1, '${at}', '${at}');
      INSERT INTO messages VALUES (7, '', 0, 'user', '"a"'), (7, '', 2, 'tool', '"c"'), (7, '', 1, 'assistant', '"b"');
      INSERT INTO steps VALUES (7, '', 0, 'e', '"step"', '"mark"');
      INSERT INTO events VALUES (7, 'e', 2, 'AgentStarted', '"first"'), (7, 'e', 4, 'ToolCallStarted', '"then"');`);
    old.close();
    const store = sqliteStore({ path });
    const bodies = async (): Promise<unknown> => [
      (await store.messages('s', '')).map(({ body }) => body),
      (await store.messages('s', '', { role: 'user' })).map(({ body }) => body),
      (await store.steps('s', '')).map(({ body, mark }) => [body, mark]),
      (await store.events('s', 'e', { after: 0, limit: 9 })).map(({ seq, body }) => [seq, body]),
    ];
    expect(await bodies()).toEqual([
      ['"a"', '"b"', '"c"'],
      ['"a"'],
      [['"step"', '"mark"']],
      [
        [2, '"first"'],
        [4, '"then"'],
      ],
    ]);
    const commit = { sessionId: 's', token: 3, revision: 2, seq: 5 };
    const event = { executionId: 'e', seq: 5, type: 'AgentPaused', body: '"last"' };
    await store.commit({ ...commit, messages: [message(3, '"d"')], events: [event] });
    expect((await store.messages('s', '', { limit: 2 })).map(({ body }) => body)).toEqual([
      '"c"',
      '"d"',
    ]);
    expect((await store.events('s', 'e', { after: 4, limit: 9 })).map(({ seq }) => seq)).toEqual([
      5,
    ]);
    await store.close();
  });

  it('has no compaction left of a session that an earlier release deletes', async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    const next = await held(store, 'old');
    const compactions = [
      { agentId: '', position: 0, kind: 'summary' as const, toPosition: 2, body: '"secret"' },
    ];
    await store.commit(next({ compactions }));
    const db = await open(path);
    // it knows no compactions, and gives the key to the next session
    db.exec(`DELETE FROM sessions; DELETE FROM commands; DELETE FROM executions; DELETE FROM eras`);
    expect(db.prepare('SELECT count(*) AS n FROM compactions').get()).toEqual({ n: 0 });
    db.close();
    await store.create(session('new'));
    expect(await store.compactions('new', '')).toEqual([]);
    await store.close();
  });

  it('is rejected and left unchanged if a newer release wrote it', async () => {
    const path = newPath();
    const db = await open(path);
    db.exec('PRAGMA user_version = 99');
    db.close();
    const store = sqliteStore({ path });
    await expect(store.find('s')).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringMatching(/version 99.*Upgrade onward/),
    });
    await store.close();
  });

  it('is used unchanged if a newer release only added to it', async () => {
    const path = newPath();
    const db = await open(path);
    const newer = migrations.length + 1;
    db.exec(`PRAGMA user_version = ${newer}; UPDATE compatibility SET version = ${newer}`);
    db.exec('ALTER TABLE sessions ADD COLUMN later TEXT');
    db.close();
    const store = sqliteStore({ path });
    const next = await held(store, 's');
    await store.commit(next());
    expect(await store.find('s')).toMatchObject({ id: 's' });
    await store.close();
    const again = await open(path);
    expect(valueOf(again, 'user_version')).toBe(newer);
    again.close();
  });

  it('is rejected and left unchanged if it belongs to another program', async () => {
    const path = newPath();
    const db = await open(path);
    db.exec('PRAGMA application_id = 7');
    db.close();
    const store = sqliteStore({ path });
    await expect(store.find('s')).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringMatching(/file of its own/),
    });
    await store.close();
  });

  it('rejects with its path if it cannot be opened, and is tried again at the next call', async () => {
    const path = join(folder, 'in-the-way');
    writeFileSync(path, 'this is no database, and long enough to be seen as none'.repeat(20));
    const store = sqliteStore({ path });
    await expect(store.find('s')).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining(path),
    });
    rmSync(path);
    expect(await store.find('s')).toBeNull();
    await store.close();
  });

  it('rejects a write after a wait while another process writes', async () => {
    const path = newPath();
    const store = sqliteStore({ path, busyTimeoutMs: 40 });
    await store.create(session('s'));
    const other = await open(path);
    other.exec('BEGIN IMMEDIATE');
    await expect(store.create(session('t'))).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringMatching(/create.*locked/),
    });
    expect(await store.find('s')).toMatchObject({ id: 's' });
    other.exec('ROLLBACK');
    other.close();
    expect(await store.create(session('t'))).toBe(true);
    await store.close();
  });
});
