import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { AgentError } from '../../../errors/agent-error.ts';
import { finished } from '../../../testing/store-contract/finished-session.ts';
import {
  at,
  event,
  makeHarness,
  message,
  root,
} from '../../../testing/store-contract/store-harness.ts';
import { ada, oldAgent, writeOldSessions } from '../../../../test/setup/old-sessions.ts';
import { newPath, oldFile, session } from '../../../../test/setup/sqlite-files.ts';
import { runtimeOn } from '../../../../test/setup/sessions.ts';
import { lockedBy } from '../../../../test/setup/sqlite-lock.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sqliteStore, type SqliteStore } from './index.ts';

function open(path = newPath()): SqliteStore & { readonly path: string } {
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  return { ...store, path };
}
const target = (): string => `${newPath()}.backup`.replace('/sessions', '-sessions');

describe('a backup', () => {
  it('opens as a store whose sessions continue', async () => {
    const store = open();
    await writeOldSessions(store);
    const to = target();
    const made = await store.backup(to);
    expect(made).toEqual({ path: to, bytes: statSync(to).size, sessions: 5 });
    expect(statSync(to).mode & 0o777).toBe(0o600);
    expect(existsSync(`${to}-wal`)).toBe(false);

    const ran: string[] = [];
    const runtime = runtimeOn(open(to), oldAgent(ran));
    const wait = { ...ada, wait: true };
    expect(await runtime.get('finished', ada)).toMatchObject({ messageCount: 8, stepCount: 4 });
    expect((await runtime.messages('finished', ada)).items).toHaveLength(8);
    expect(await runtime.approve('paused', 'call_pay_bill', wait)).toMatchObject({
      output: 'done: pay bill',
    });
    expect(await runtime.send('finished', 'lookup more', wait)).toMatchObject({ messageCount: 12 });
    // the abandoned session stays leased until its short lease expires
    runtime.start();
    expect(await runtime.wait('queued', ada)).toMatchObject({ output: 'done: say hello' });
    expect(ran).toEqual(['pay', 'lookup']);
    // the copy does not show whether the tool finished
    await expect.poll(async () => (await runtime.get('left', ada)).status).toBe('failed');
  });

  it('includes the write-ahead log, which a copy of the file does not', async () => {
    const store = open();
    await store.create(session('early'));
    const loose = target();
    copyFileSync(store.path, loose);
    const to = target();
    await store.backup(to);
    expect(await open(to).find('early')).toMatchObject({ id: 'early' });
    expect(await open(loose).find('early')).toBeNull();
  });

  it('is a consistent snapshot while others write, blocks no writer, and leaves the event loop free', async () => {
    const store = open();
    const harness = makeHarness(store, 60);
    const held = await harness.held();
    // each commit writes a message and an event with the same number
    let n = 0;
    const write = () => {
      const position = n++;
      const body = JSON.stringify('x'.repeat(2_000));
      return held.commit({
        root: root({ messageCount: n, stepCount: n }),
        seq: n,
        messages: [message(position, { body })],
        events: [event(n, { body })],
      });
    };
    for (let i = 0; i < 3_000; i++) await write();
    let isOver = false;
    const to = target();
    const began = performance.now();
    const backup = store.backup(to).finally(() => (isOver = true));
    let slowest = 0;
    let writes = 0;
    while (!isOver) {
      const start = performance.now();
      await write();
      writes += 1;
      slowest = Math.max(slowest, performance.now() - start);
      await new Promise((resolve) => {
        setTimeout(resolve, 2);
      });
    }
    await backup;
    console.log(`backup: ${writes} writes meanwhile, the slowest ${Math.round(slowest)} ms`);
    expect(writes).toBeGreaterThan(3);
    // a write waits for at most a few of all slices
    expect(slowest).toBeLessThan(Math.max(400, (performance.now() - began) / 2));
    const copy = open(to);
    const row = (await copy.find(held.id))!;
    const messages = await copy.messages(held.id, '');
    const events = await copy.events(held.id, 'exe-1', { after: 0, limit: 100_000 });
    expect(row.messageCount).toBeGreaterThanOrEqual(3_000);
    expect(row.messageCount).toBeLessThan(n);
    expect([messages.length, events.length]).toEqual([row.messageCount, row.messageCount]);
  }, 60_000);

  it('keeps the order of rows that are written before and after it', async () => {
    const store = open();
    const harness = makeHarness(store, 60);
    const gone: string[] = [];
    for (let i = 0; i < 30; i++) gone.push((await finished(harness)).id);
    const { id } = await finished(harness);
    for (const each of gone) await store.delete(each); // leaves gaps in the numbers of rows
    const to = target();
    await store.backup(to);
    const copy = open(to);
    expect(await copy.messages(id, '')).toEqual(await store.messages(id, ''));
    const copied = makeHarness(copy, 60);
    await copy.accept(
      id,
      { kind: 'message', executionId: 'exe-3', body: '{}', at: at(200) },
      { phases: ['idle'] },
    );
    const held = await copied.take(id);
    await held.commit({
      root: root({ executionId: 'exe-3', messageCount: 5 }),
      seq: 1,
      messages: [message(4)],
    });
    const positions = (await copy.messages(id, '')).map(({ position }) => position);
    expect(positions).toEqual([0, 1, 2, 3, 4]);
    expect((await copy.messages(id, '', { limit: 1 }))[0]?.position).toBe(4);
  });

  it('has no deleted data', async () => {
    const path = oldFile();
    const store = open(path);
    const { id } = await makeHarness(store, 60).idle({
      head: JSON.stringify('CANARY '.repeat(3_000)),
    });
    await store.delete(id);
    const to = target();
    await store.backup(to);
    expect(readFileSync(to).includes('CANARY')).toBe(false);
  });

  it('of a file of an earlier release leaves that file unchanged and opens with this one', async () => {
    const path = oldFile();
    const before = readFileSync(path);
    const to = target();
    await open(path).backup(to);
    expect(readFileSync(path).equals(before)).toBe(true);
    const runtime = runtimeOn(open(to), oldAgent());
    expect(await runtime.get('finished', ada)).toMatchObject({ messageCount: 8 });
  });

  it('works while another process writes in a long transaction', async () => {
    const store = open();
    await store.create(session('s'));
    const lock = await lockedBy(store.path, `BEGIN IMMEDIATE; UPDATE sessions SET owner = 'x'`);
    const to = target();
    await store.backup(to);
    await lock.release();
    expect((await open(to).find('s'))?.owner).toBe('o');
  });
});

describe('a backup is refused', () => {
  it('if the target exists, unless `overwrite` is set', async () => {
    const store = open();
    await store.create(session('s'));
    const to = target();
    writeFileSync(to, 'mine');
    const error = await store.backup(to).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'conflict' });
    expect(AgentError.is(error) && error.message).toContain(to);
    expect(readFileSync(to, 'utf8')).toBe('mine');
    await store.backup(to, { overwrite: true });
    expect(await open(to).find('s')).not.toBeNull();
  });

  it('if the target is the database itself or a database that is in use', async () => {
    const store = open();
    const other = open();
    await store.create(session('s'));
    await other.create(session('t'));
    for (const to of [store.path, join(dirname(store.path), '.', 'sessions.db'), other.path])
      await expect(store.backup(to, { overwrite: true })).rejects.toMatchObject({
        code: 'conflict',
      });
    expect(await store.find('s')).not.toBeNull();
    expect(await other.find('t')).not.toBeNull();
  });

  it.each<[string, (path: string) => void]>([
    ['it does not exist', () => {}],
    ['it is empty', (path) => writeFileSync(path, '')],
    ['it is not a database', (path) => writeFileSync(path, 'text '.repeat(5_000))],
    [
      'it is truncated',
      (path) => {
        const whole = readFileSync(oldFile());
        writeFileSync(path, whole.subarray(0, whole.length / 2));
      },
    ],
  ])(
    'if the source is unusable because %s, with an error that names it and no leftover files',
    async (_name, make) => {
      const to = target();
      const path = `${to}.source`;
      make(path);
      const error = await open(path)
        .backup(to)
        .catch((e: unknown) => e);
      expect(error).toMatchObject({ code: 'store_failed' });
      expect((error as AgentError).message).toContain(path);
      const left = readdirSync(dirname(to)).filter((name) => name.includes('.part'));
      expect(left).toEqual([]);
      expect(existsSync(to)).toBe(false);
    },
  );
});

describe('vacuum', () => {
  it('removes all deleted data and frees space, even in a file of an earlier release', async () => {
    const path = oldFile();
    const store = open(path);
    const harness = makeHarness(store, 60);
    for (let i = 0; i < 20; i++) {
      const { id } = await harness.idle({ head: JSON.stringify('CANARY '.repeat(20 + i * 300)) });
      await store.delete(id);
    }
    const { bytesBefore, bytes } = await store.vacuum();
    expect(bytes).toBeLessThan(bytesBefore);
    expect(statSync(path).size).toBe(bytes);
    expect(readFileSync(path).includes('CANARY')).toBe(false);
    // from now on like a new file
    const { id } = await harness.idle({ head: JSON.stringify('CANARY '.repeat(30_000)) });
    await store.delete(id);
    expect(statSync(path).size).toBeLessThan(bytes * 1.2);
    expect(await store.find('finished')).not.toBeNull();
    expect((await store.messages('finished', '')).map(({ position }) => position)).toHaveLength(8);
  });
});
