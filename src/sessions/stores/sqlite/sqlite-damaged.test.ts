import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { SessionRuntime } from 'onward';
import { describe, expect, it } from 'vitest';
import { ada, oldAgent } from '../../../../test/setup/old-sessions.ts';
import { newPath, oldFile, open, session } from '../../../../test/setup/sqlite-files.ts';
import { AgentError } from '../../../errors/agent-error.ts';
import { sqliteFailure } from './sqlite-errors.ts';
import { sqliteStore } from './index.ts';

const PAGE = 8192;
const filled = (bytes: Buffer, from: number, to: number, value = 0): Buffer =>
  Buffer.from(bytes).fill(value, from, to);

const damaged = (path: string): object => ({
  code: 'store_failed',
  message: expect.stringMatching(new RegExp(`${path}.* is damaged.*restore a backup`)),
  details: { path, reason: 'damaged' },
});

describe('a damaged file', () => {
  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['random bytes', (bytes) => randomBytes(bytes.length)],
    ['zeros', (bytes) => Buffer.alloc(bytes.length)],
    [
      'text',
      () => Buffer.from('this is no database, and long enough to be seen as none'.repeat(20)),
    ],
    ['a wrong header', (bytes) => filled(bytes, 0, 16, 65)],
    ['a zeroed header', (bytes) => filled(bytes, 0, 100)],
    ['a file truncated to half', (bytes) => bytes.subarray(0, bytes.length >> 1)],
    ['a file truncated inside a page', (bytes) => bytes.subarray(0, (bytes.length >> 1) + 777)],
    ['a file truncated after its first page', (bytes) => bytes.subarray(0, PAGE)],
    ['a file truncated in its header', (bytes) => bytes.subarray(0, 50)],
  ])('with %s is rejected with an error that names it', async (_damage, damage) => {
    const path = oldFile();
    writeFileSync(path, damage(readFileSync(path)));
    const store = sqliteStore({ path });
    await expect(store.find('finished')).rejects.toMatchObject(damaged(path));
    await expect(store.create(session('n'))).rejects.toMatchObject(damaged(path));
    await store.close();
  });

  it('with one bad page never leaves a caller waiting', async () => {
    const good = readFileSync(oldFile());
    let refusals = 0;
    for (let page = 1; page < good.length / PAGE; page++) {
      const path = oldFile();
      writeFileSync(path, filled(good, page * PAGE, (page + 1) * PAGE));
      const store = sqliteStore({ path });
      const runtime = new SessionRuntime({ store, agents: [oldAgent()], onError: () => {} });
      for (const work of [
        () => runtime.send('finished', 'lookup more', { ...ada, wait: true }),
        () => runtime.approve('paused', 'call_pay_bill', { ...ada, wait: true }),
        () => runtime.delete('finished', ada),
      ])
        try {
          await work();
        } catch (error) {
          refusals += 1;
          expect(error).toMatchObject({ code: 'store_failed', details: { reason: 'damaged' } });
        }
      await runtime.close({ graceMs: 0 });
      await store.close();
      rmSync(dirname(path), { recursive: true });
    }
    expect(refusals).toBeGreaterThan(20);
  });

  it('is not used any more once the damage is detected', async () => {
    const path = oldFile();
    (await open(path)).close(); // migrate to the newest version, so that opening it again reads little
    writeFileSync(path, filled(readFileSync(path), PAGE, 2 * PAGE));
    const store = sqliteStore({ path });
    const first = await store.find('finished').catch((error: unknown) => error);
    expect(first).toMatchObject(damaged(path));
    await expect(store.recoverable({ agents: [{ agent: 'a' }], limit: 9 })).rejects.toBe(first);
    await expect(store.create(session('n'))).rejects.toBe(first);
    await store.close();
  });

  it('opens with the remaining data if its log is missing or truncated', async () => {
    for (const cut of [(file: string) => rmSync(file), (file: string) => truncateSync(file, 40)]) {
      const path = newPath();
      const db = await open(path);
      for (const name of ['', '-wal', '-shm'])
        writeFileSync(`${path}2${name}`, readFileSync(path + name));
      db.close();
      cut(`${path}2-wal`);
      writeFileSync(`${path}2-shm`, randomBytes(100));
      const store = sqliteStore({ path: `${path}2` });
      await expect(store.create(session('s')).catch(AgentError.is)).resolves.toBe(true);
      await store.close();
    }
  });

  it('with a row that is not JSON is rejected with the id of the session', async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    await store.create({ ...session('s'), owner: ada.owner, head: '{"version":1,"st' });
    const runtime = new SessionRuntime({ store, agents: [oldAgent()] });
    await expect(runtime.get('s', ada)).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringMatching(/session s in the sqlite store.*codec/),
    });
    await store.close();
  });
});

describe('a file that cannot be written', () => {
  it('is reported as full if no space is left', async () => {
    const db = await open(newPath());
    db.exec('PRAGMA max_page_count = 1');
    const file = { path: 'x.db', durability: 'process', busyTimeoutMs: 1 } as const;
    const failure = ((): AgentError => {
      try {
        db.exec(`CREATE TABLE large AS SELECT zeroblob(1000000) AS a`);
      } catch (error) {
        return sqliteFailure(file, 'commit', error);
      }
      throw new Error('there was space');
    })();
    expect(failure).toMatchObject({
      code: 'store_failed',
      message: expect.stringMatching(/at commit: .*full\. No space is left for x\.db: free some/),
      details: { reason: 'full' },
    });
    db.close();
  });

  it.skipIf(process.getuid?.() === 0)('is reported as read-only', async () => {
    const path = oldFile();
    chmodSync(path, 0o444);
    const store = sqliteStore({ path });
    await expect(store.find('finished')).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining(`Let this process write to ${path}`),
    });
    await store.close();
  });

  it('is reported with its path if a folder or a file is in its place', async () => {
    const path = oldFile();
    for (const wrong of [dirname(path), `${path}/sessions.db`]) {
      const store = sqliteStore({ path: wrong });
      await expect(store.find('s')).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining(wrong),
      });
      await store.close();
    }
  });
});
