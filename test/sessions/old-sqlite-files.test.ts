import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { sqliteStore } from 'onward/stores/sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { migrations } from '../../src/sessions/stores/sqlite/sqlite-schema.ts';
import { ada, oldAgent, writeOldSessions } from '../setup/old-sessions.ts';
import { runtimeOn, sqlitePlace } from '../setup/sessions.ts';

const fixtures = 'test/fixtures/sqlite';
const files = readdirSync(fixtures).filter((file) => file.endsWith('.db.gz'));

/** A file of each release, and one of the current version. */
const histories: [string, (path: string) => Promise<void>][] = [
  ...files.map((file): [string, (path: string) => Promise<void>] => [
    file,
    async (path) => writeFileSync(path, gunzipSync(readFileSync(join(fixtures, file)))),
  ]),
  [
    'the current version',
    async (path) => {
      const store = sqliteStore({ path });
      await writeOldSessions(store);
      await store.close();
    },
  ],
];

describe('SQLite files of every version', () => {
  it.each(histories)('%s: every session can be read and continues', async (_name, write) => {
    const place = sqlitePlace();
    await write(join(place.folder, 'sessions.db'));
    const ran: string[] = [];
    const store = place.open();
    const runtime = runtimeOn(store, oldAgent(ran));
    const wait = { ...ada, wait: true };

    expect(await runtime.get('finished', ada)).toMatchObject({
      status: 'completed',
      messageCount: 8,
      stepCount: 4,
      metadata: { plan: 'pro' },
      info: { usage: { total: 60 } },
    });
    expect((await runtime.messages('finished', ada)).items).toHaveLength(8);
    expect((await runtime.steps('finished', ada)).items).toHaveLength(4);
    const { events } = await runtime.events('finished', { ...ada, executionId: 'e-1' });
    expect(events[0]?.event.type).toBe('AgentStarted');

    await runtime.recover();
    expect(await runtime.wait('queued', ada)).toMatchObject({ output: 'done: say hello' });
    // the effect of its tool is unknown, so the default policy ends it
    const left = async () => {
      await runtime.recover();
      return (await runtime.get('left', ada)).status;
    };
    await expect.poll(left).toBe('failed');
    expect(ran).toEqual([]);

    const paused = await runtime.get('paused', ada);
    expect(paused.pendingApprovals).toMatchObject([{ callId: 'call_pay_bill' }]);
    expect(await runtime.approve('paused', 'call_pay_bill', wait)).toMatchObject({
      output: 'done: pay bill',
    });
    expect(await runtime.resume('forked', wait)).toMatchObject({ output: 'done: lookup large' });
    expect(await runtime.send('finished', 'lookup more', wait)).toMatchObject({
      output: 'done: lookup more',
      messageCount: 12,
    });
    expect(ran).toEqual(['pay', 'lookup']);

    const pruned = await runtime.prune({ olderThan: new Date(Date.now() + 1_000) });
    expect(pruned.sessions).toBeGreaterThan(3);
    for (const id of ['finished', 'forked', 'paused', 'queued', 'left'])
      await runtime.delete(id, ada);
    expect((await runtime.list(ada)).sessions).toEqual([]);
  });

  it('end up with the same tables and indexes', async () => {
    const shapes = await Promise.all(
      histories.map(async ([, write]) => {
        const path = join(sqlitePlace().folder, 'sessions.db');
        await write(path);
        const store = sqliteStore({ path });
        await store.find('finished');
        await store.close();
        return namesIn(path);
      }),
    );
    for (const names of shapes) expect(names).toEqual(shapes.at(-1));
  });

  it('have a fixture for each released version', () => {
    const versions = new Set(files.map((file) => Number(file.split('-')[0])));
    expect([...versions]).toEqual([1, 2]);
  });
});

it('never changes an existing migration: add a new one at the end', () => {
  const hashes = migrations.map((sql) =>
    createHash('sha256').update(sql).digest('hex').slice(0, 16),
  );
  expect(hashes).toEqual([
    '8ca0e9de7c5e4d27',
    '8c1ee1a1ea2c179b',
    'e28e8f2ac50d77dd',
    'b132655ae3058e0c',
    'ed910dd3f828bef8',
    'dbadcd27a3b8428d',
    'a353b22d10e22ffd',
    'f81d16cee8ed705b',
    '8c19815589d24af9',
    'a1b2e3686a019b61',
    '74bd8b861715386b',
    '1f10de2955034cb4',
  ]);
});

async function namesIn(path: string): Promise<string[]> {
  const { DatabaseSync } = await import('@photostructure/sqlite');
  const db = new DatabaseSync(path);
  onTestFinished(() => db.close());
  const rows = db.prepare(`SELECT type, name FROM sqlite_schema WHERE sql IS NOT NULL`).all();
  return rows.map((row) => Object.values(row as object).join(' ')).toSorted();
}
