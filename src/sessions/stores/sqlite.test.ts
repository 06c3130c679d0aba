import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sessionStoreContract } from '../../testing/session-store-contract.ts';
import type { NewSessionRow } from '../session-rows.ts';
import type { Commit, SessionStore } from '../session-store.ts';
import { openDatabase, type SqliteDatabase } from './sqlite-database.ts';
import { migrations } from './sqlite-schema.ts';
import { sqliteStore } from './sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'onward-sqlite-'));
const shared = sqliteStore({ path: join(folder, 'shared.db') });
afterAll(async () => {
  await shared.close();
  rmSync(folder, { recursive: true, force: true });
});

let files = 0;
const newPath = (): string => join(folder, `file-${++files}`, 'sessions.db');
const open = (path: string, options = {}): Promise<SqliteDatabase> =>
  openDatabase({ path, durability: 'process', busyTimeoutMs: 1000, ...options });
const valueOf = (db: SqliteDatabase, pragma: string): unknown =>
  Object.values(db.prepare(`PRAGMA ${pragma}`).get() as object)[0];

const at = '2026-01-01T00:00:00.000Z';
const session = (id: string): NewSessionRow => ({
  id,
  owner: 'o',
  agent: 'support',
  status: 'pending',
  executionId: null,
  head: '{}',
  messageCount: 0,
  stepCount: 0,
  createdAt: at,
});
const command = { kind: 'message', executionId: 'e', body: '{}', at } as const;
const message = (position: number, body = '{}') => ({ agentId: '', position, role: 'user', body });

/** A session that a worker holds, and its next commits. */
async function held(store: SessionStore, id: string): Promise<(parts?: Partial<Commit>) => Commit> {
  await store.create(session(id));
  await store.accept(id, command, { phases: ['idle'] });
  const { token } = (await store.claim(id, { worker: `worker of ${id}`, ttlMs: 60_000 }))!;
  let revision = 0;
  return (parts) => ({ sessionId: id, token, revision: revision++, at, ...parts });
}

describe('the SQLite store keeps the contract', () => {
  for (const { name, run } of sessionStoreContract(() => shared)) it(name, run);
});

describe('the file', () => {
  it.each([
    ['process', 1],
    ['power', 2],
  ] as const)('for durability %s: write-ahead log, synchronous %i', async (durability, level) => {
    const db = await open(newPath(), { durability, busyTimeoutMs: 1234 });
    expect(valueOf(db, 'journal_mode')).toBe('wal');
    expect(valueOf(db, 'synchronous')).toBe(level);
    expect(valueOf(db, 'busy_timeout')).toBe(1234);
    db.close();
  });

  it('is made on first use, with its folder, and all is in it when it is closed', async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    expect(existsSync(path)).toBe(false);
    await store.create(session('s'));
    expect(existsSync(path)).toBe(true);
    await store.close();
    expect(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  });

  it('keeps everything when it is opened again', async () => {
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

  it('gets its tables where it is empty, once', async () => {
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

  it('of version 1 is brought to the newest with all it has', async () => {
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

  it('of a newer release is refused, and not touched', async () => {
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

  it('of somebody else is refused, and not touched', async () => {
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

  it('that cannot be opened is a clear error, and is tried again at the next call', async () => {
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

  it('that another process writes to is waited for, then refused', async () => {
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

describe('commits that arrive together', () => {
  it('a refused one, and one that breaks down, hurt no other', async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    const nexts = await Promise.all(Array.from({ length: 300 }, (_, n) => held(store, `s${n}`)));
    await Promise.all(nexts.map((next) => store.commit(next({ messages: [message(0)] }))));
    const secret = 'a body that no error may show';
    const outcomes = await Promise.allSettled(
      nexts.map((next, n) => {
        if (n === 7) return store.commit({ ...next(), token: 1_000_000, messages: [message(1)] });
        const steps = [{ agentId: '', position: 0, executionId: 'e', body: secret, mark: '{}' }];
        return store.commit(next({ steps, messages: [message(n === 9 ? 0 : 1, secret)] }));
      }),
    );
    const bad = outcomes.flatMap((outcome, n) => (outcome.status === 'rejected' ? [n] : []));
    expect(bad).toEqual([7, 9]);
    expect(outcomes[7]).toMatchObject({
      reason: { code: 'stale_owner', details: { sessionId: 's7', token: 1_000_000 } },
    });
    const { reason } = outcomes[9] as PromiseRejectedResult;
    expect(reason).toMatchObject({ code: 'store_failed', cause: expect.any(Error) });
    expect(reason.message).toMatch(/commit/);
    expect(`${reason.message} ${JSON.stringify(reason.details)} ${reason.cause}`).not.toContain(
      secret,
    );
    for (const [n] of nexts.entries()) {
      const isBad = bad.includes(n);
      expect(await store.messages(`s${n}`, '')).toHaveLength(isBad ? 1 : 2);
      expect(await store.steps(`s${n}`, '')).toHaveLength(isBad ? 0 : 1);
      expect(await store.find(`s${n}`)).toMatchObject({ revision: isBad ? 1 : 2 });
    }
    await store.close();
  });

  it('of one session are written in order', async () => {
    const next = await held(shared, 'in-order');
    await Promise.all(
      Array.from({ length: 50 }, (_, n) => shared.commit(next({ messages: [message(n)] }))),
    );
    expect(await shared.find('in-order')).toMatchObject({ revision: 50 });
  });

  it('D38: the bytes that commit n puts on the disk do not grow with n', async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    const next = await held(store, 's');
    const db = await open(path);
    db.exec('PRAGMA wal_autocheckpoint = 0');
    const pages = (): number =>
      (db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as { log: number }).log;
    const written = async (from: number): Promise<number> => {
      const before = pages();
      for (let n = from; n < from + 20; n++)
        await store.commit(next({ messages: [message(n, `"${'x'.repeat(300)}"`)] }));
      return pages() - before;
    };
    const early = await written(0);
    for (let n = 20; n < 1500; n++) await store.commit(next({ messages: [message(n)] }));
    const late = await written(1500);
    expect(early).toBeGreaterThan(0);
    expect(late).toBeLessThan(early * 1.5);
    db.close();
    await store.close();
  });
});

describe('a history that spreads over many eras', () => {
  const path = newPath();
  const store = sqliteStore({ path });
  const step = (position: number, executionId: string) => ({
    agentId: '',
    position,
    executionId,
    body: `"step ${position}"`,
    mark: '{}',
  });
  let others: SqliteDatabase;
  beforeAll(async () => {
    const next = await held(store, 's');
    others = await open(path);
    const pass = others.prepare(`INSERT INTO events (era, session, execution_id, seq, type, body)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700) SELECT ?, -1, 'x', i, 't', '' FROM n`);
    for (let n = 0; n < 12; n++) {
      const executionId = n < 6 ? 'first' : 'second';
      const event = { executionId, seq: (n % 6) + 1, type: 'AgentStateUpdated', body: `"${n}"` };
      await store.commit(
        next({
          messages: [message(2 * n), { ...message(2 * n + 1), role: 'assistant' }],
          steps: [step(n, executionId)],
          events: [event],
          seq: event.seq,
          ...(n === 11 && { done: 1, end: 'ended' }),
        }),
      );
      pass.run(-n); // what other sessions write in the meantime
    }
  });
  afterAll(() => {
    others.close();
    return store.close();
  });
  const rowsOf = (table: string): number =>
    (others.prepare(`SELECT count(*) AS n FROM ${table} WHERE session > 0`).get() as { n: number })
      .n;

  it('is read as one', async () => {
    expect(rowsOf('eras')).toBeGreaterThan(5);
    const places = async (range?: object): Promise<number[]> =>
      (await store.messages('s', '', range)).map(({ position }) => position);
    expect(await places()).toEqual(Array.from({ length: 24 }, (_, i) => i));
    expect(await places({ limit: 3 })).toEqual([21, 22, 23]);
    expect(await places({ before: 10, limit: 4 })).toEqual([6, 7, 8, 9]);
    expect(await places({ from: 20 })).toEqual([20, 21, 22, 23]);
    expect(await places({ role: 'assistant', limit: 2 })).toEqual([21, 23]);
    expect(await places({ role: 'user', before: 9, limit: 1 })).toEqual([8]);
    const steps = await store.steps('s', '', { executionId: 'second', limit: 2 });
    expect(steps.map(({ position }) => position)).toEqual([10, 11]);
    const log = await store.events('s', 'second', { after: 2, limit: 3 });
    expect(log.map(({ seq, body }) => [seq, body])).toEqual([
      [3, '"8"'],
      [4, '"9"'],
      [5, '"10"'],
    ]);
  });

  it('is forked, pruned and deleted whole', async () => {
    const { rows } = await store.size('s');
    expect(rows).toBe(1 + 24 + 12 + 12);
    await store.fork('s', {
      ...session('fork'),
      messageCount: 10,
      stepCount: 5,
      executionId: 'second',
    });
    expect(await store.messages('fork', '')).toHaveLength(10);
    expect(await store.steps('fork', '')).toHaveLength(5);
    const later = '2027-01-01T00:00:00.000Z';
    // of the session 12 events and the steps of the first execution, of the fork all steps
    expect(await store.prune({ olderThan: later })).toEqual({ sessions: 2, rows: 12 + 6 + 5 });
    expect(await store.messages('s', '')).toHaveLength(24);
    await store.delete('s');
    await store.delete('fork');
    for (const table of ['messages', 'steps', 'events', 'eras']) expect(rowsOf(table)).toBe(0);
  });
});

describe('closing', () => {
  it('finishes what was begun, then refuses', async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    const next = await held(store, 's');
    const writes = Array.from({ length: 10 }, (_, n) =>
      store.commit(next({ messages: [message(n)] })),
    );
    const closed = store.close();
    await Promise.all([...writes, closed, store.close()]);
    for (const call of [store.find('s'), store.commit(next()), store.prune({ olderThan: at })])
      await expect(call).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining('closed'),
      });
    const again = sqliteStore({ path });
    expect(await again.messages('s', '')).toHaveLength(10);
    await again.close();
  });

  it('waits for a file that is just being opened, and needs none', async () => {
    const store = sqliteStore({ path: newPath() });
    const made = store.create(session('s'));
    await store.close();
    expect(await made).toBe(true);
    const unused = newPath();
    await sqliteStore({ path: unused }).close();
    expect(existsSync(unused)).toBe(false);
  });
});

it('options are checked, and codec and largest text are there for the runtime', () => {
  expect(() => sqliteStore({ path: '' })).toThrow('path');
  expect(() => sqliteStore({ path: 'x', durability: 'full' as never })).toThrow('durability');
  expect(() => sqliteStore({ path: 'x', busyTimeoutMs: -1 })).toThrow('busyTimeoutMs');
  expect(() => sqliteStore({ path: 'x', maxBytes: 0 })).toThrow('maxBytes');
  const codec = { encode: (text: string) => text, decode: (text: string) => text };
  expect(sqliteStore({ path: 'x', codec, maxBytes: 9 })).toMatchObject({ codec, maxBytes: 9 });
});

describe('in processes of their own', () => {
  const built = join(folder, 'built');
  beforeAll(async () => {
    const bundle = await rolldown({
      input: resolve('src/sessions/stores/sqlite.ts'),
      external: ['@photostructure/sqlite'],
      platform: 'neutral',
    });
    await bundle.write({ dir: built, format: 'esm', entryFileNames: 'sqlite.mjs' });
    await bundle.close();
  });

  /** What a process prints that runs this code. */
  function printed(name: string, code: string): Promise<string> {
    const file = join(built, `${name}.mjs`);
    writeFileSync(file, `import { sqliteStore } from './sqlite.mjs';\n${code}`);
    return new Promise((done) => {
      const child = spawn(process.execPath, ['--no-warnings', file]);
      let text = '';
      child.stdout.on('data', (chunk) => (text += String(chunk)));
      child.stderr.on('data', (chunk) => (text += String(chunk)));
      child.on('close', () => done(text.trim()));
    });
  }

  it.skipIf(process.getBuiltinModule('node:sqlite'))(
    'says what to install where SQLite is missing',
    async () => {
      const said = await printed(
        'missing',
        `await sqliteStore({ path: 'x.db' }).find('s').catch((e) => console.log(e.code, e.message))`,
      );
      expect(said).toMatch(/^package_missing .*npm install @photostructure\/sqlite$/);
    },
  );

  it('several make and write one new file at once, and nothing is lost', async () => {
    symlinkSync(resolve('node_modules'), join(built, 'node_modules'), 'junction');
    const path = newPath();
    const names = ['a', 'b', 'c'];
    const worker = (name: string): string => `
      const store = sqliteStore({ path: ${JSON.stringify(path)} });
      const at = ${JSON.stringify(at)};
      const session = (id) => ({ ...${JSON.stringify(session(''))}, id });
      const won = [];
      for (let n = 0; n < 20; n++) {
        const id = 's' + n;
        await store.create(session(id));
        await store.accept(id, { kind: 'message', executionId: 'e', body: '{}', at }, { phases: ['idle'] });
        const row = await store.claim(id, { worker: '${name}', ttlMs: 60000 });
        if (row) won.push(id);
        for (let revision = 0; row && revision < 10; revision++)
          await store.commit({ sessionId: id, token: row.token, revision, at,
            messages: [{ agentId: '', position: revision, role: 'user', body: '"${name}"' }] });
      }
      await store.close();
      console.log(JSON.stringify(won));
    `;
    const said = await Promise.all(names.map((name) => printed(name, worker(name))));
    const won = said.map((line) => JSON.parse(line) as string[]);
    const ids = Array.from({ length: 20 }, (_, n) => `s${n}`);
    expect(won.flat().toSorted()).toEqual(ids.toSorted());
    const store = sqliteStore({ path });
    for (const [i, name] of names.entries())
      for (const id of won[i] ?? []) {
        const bodies = (await store.messages(id, '')).map(({ body }) => body);
        expect(bodies).toEqual(Array.from({ length: 10 }, () => `"${name}"`));
      }
    await store.close();
  });
});
