import { describe, expect, it } from 'vitest';
import { mapDriver } from '../../../../test/setup/key-values.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { sessionStoreContract } from '../../../testing/session-store-contract.ts';
import { call, root } from '../../../testing/store-contract/store-harness.ts';
import type { NewSessionRow } from '../../session-rows.ts';
import { keyValueStore } from './index.ts';

const session = (id: string, more: Partial<NewSessionRow> = {}): NewSessionRow => ({
  id,
  owner: 'ann',
  agent: 'support',
  status: 'pending',
  executionId: null,
  head: '{}',
  messageCount: 0,
  stepCount: 0,
  createdAt: '2026-01-01T00:00:00.000Z',
  ...more,
});
const message = (n: number) =>
  ({ kind: 'message', executionId: 'e', body: `${n}`, at: '2026-01-01T00:00:01.000Z' }) as const;

describe('the key-value store keeps the contract', () => {
  for (const { name, run } of sessionStoreContract(() => keyValueStore(mapDriver()))) it(name, run);
});

describe('the key-value store', () => {
  it('loses nothing of what is asked at once: who comes second reads again', async () => {
    const store = keyValueStore(mapDriver());
    await store.create(session('s'));
    const numbers = Array.from({ length: 8 }, (_n, i) => i);
    await Promise.all(
      numbers.map((n) => store.accept('s', message(n), { phases: ['idle', 'open'] })),
    );
    const bodies: string[] = [];
    const { token } = (await store.claim('s', { worker: 'w', ttlMs: 60_000 }))!;
    for (let revision = 0; ; revision++) {
      const next = await store.nextCommand('s');
      if (!next) break;
      bodies.push(next.body);
      await store.commit({ sessionId: 's', token, revision, done: next.number });
    }
    expect(bodies.toSorted()).toEqual(numbers.map(String));
  });

  it('gives up when others are always faster, and says so', async () => {
    const store = keyValueStore({ ...mapDriver(), write: () => false });
    await expect(store.create(session('s'))).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('Session "s" was changed by others'),
      details: { sessionId: 's' },
    });
  });

  it('types what the driver throws, and names what it did', async () => {
    const cause = new Error('connection refused');
    const store = keyValueStore({
      ...mapDriver(),
      get() {
        throw cause;
      },
    });
    await expect(store.find('s')).rejects.toMatchObject({
      code: 'store_failed',
      message: 'The map store failed at get: connection refused',
      cause,
      details: { operation: 'get' },
    });
  });

  it('refuses everything once it is closed, and closes the driver once', async () => {
    let closed = 0;
    const store = keyValueStore({ ...mapDriver(), close: () => void closed++ });
    await Promise.all([store.close(), store.close()]);
    expect(closed).toBe(1);
    for (const call of [store.find('s'), store.list({ limit: 1 }), store.create(session('s'))])
      await expect(call).rejects.toMatchObject({ code: 'store_failed', message: /closed/ });
  });

  it('counts for itself how long a lease was not renewed, whatever the clock of the driver says', async () => {
    const clock = fakeClock();
    let ahead = 0;
    const now = (): number => clock.monotonic() + ahead;
    const store = keyValueStore({ ...mapDriver(), now }, { clock });
    await store.create(session('s'));
    await store.accept('s', message(1), { phases: ['idle'] });
    await store.claim('s', { worker: 'a', ttlMs: 15_000 });
    clock.jump(14_999);
    for (ahead of [86_400_000, 0, -86_400_000]) {
      expect(await store.urgent({ agents: ['support'], limit: 9 })).toEqual([]);
      expect(await store.claim('s', { worker: 'b', ttlMs: 15_000 })).toBeNull();
    }
    clock.jump(1);
    expect(await store.urgent({ agents: ['support'], limit: 9 })).toEqual(['s']);
    expect(await store.claim('s', { worker: 'b', ttlMs: 15_000 })).toMatchObject({ worker: 'b' });
  });

  it('pages past what a filter leaves out', async () => {
    const store = keyValueStore(mapDriver());
    for (let n = 0; n < 450; n++)
      await store.create(session(`s${n}`, { agent: n === 0 ? 'rare' : 'support' }));
    const rare = await store.list({ owner: 'ann', agent: 'rare', limit: 5 });
    expect(rare.map(({ id }) => id)).toEqual(['s0']);
    expect(await store.list({ limit: 1_000 })).toHaveLength(450);
  });

  it('takes names that differ in case, or hold what separates keys, for different ones', async () => {
    const store = keyValueStore(mapDriver());
    const owners = ['a', 'A', 'a/b', 'a~002fb', 'ä', '\ud800', ''];
    for (const [i, owner] of owners.entries()) await store.create(session(`s${i}`, { owner }));
    for (const [i, owner] of owners.entries())
      expect((await store.list({ owner, limit: 9 })).map(({ id }) => id)).toEqual([`s${i}`]);
  });

  it('refuses a message or step at a place that is taken, and writes nothing of that commit', async () => {
    const store = keyValueStore(mapDriver());
    await store.create(session('s'));
    await store.accept('s', message(1), { phases: ['idle'] });
    const { token } = (await store.claim('s', { worker: 'a', ttlMs: 1000 }))!;
    const row = { agentId: '', position: 0, role: 'user', body: '{}' };
    const step = { agentId: '', position: 0, executionId: 'e', body: '{}', mark: '{}' };
    await store.commit({ sessionId: 's', token, revision: 0, messages: [row] });
    await expect(
      store.commit({ sessionId: 's', token, revision: 1, steps: [step], messages: [row] }),
    ).rejects.toMatchObject({ code: 'store_failed' });
    expect(await store.steps('s', '')).toEqual([]);
    expect(await store.find('s')).toMatchObject({ revision: 1 });
  });

  it('D91: knows from its calls that an execution of 0.1.0, which remembered neither, let a call wait', async () => {
    const driver = mapDriver();
    const isNew = ([key]: readonly [string, string | null]): boolean =>
      /\/(wait|execution)\//.test(key);
    const write: typeof driver.write = (changes, condition) =>
      driver.write(
        changes.filter((change) => !isNew(change)),
        condition,
      );
    const store = keyValueStore(driver);
    await store.create(session('s'));
    for (const [executionId, kept] of [
      ['first', keyValueStore({ ...driver, write })],
      ['second', store],
    ] as const) {
      await kept.accept('s', { ...message(1), executionId, contentHash: '' }, { phases: ['idle'] });
      const { token, revision } = (await kept.claim('s', { worker: 'w', ttlMs: 60_000 }))!;
      await kept.commit({
        sessionId: 's',
        token,
        revision,
        root: root({ executionId }),
        calls: [call('a', 'waiting', { executionId })],
        done: (await kept.nextCommand('s'))!.number,
        end: executionId === 'first' ? 'ended' : 'paused',
      });
    }
    const answer = { executionId: 'second', callId: 'a', body: '{}', at: message(1).at };
    expect(await store.decide('s', { ...answer, ifUnambiguous: true })).toBe('ambiguous');
    expect(await store.decide('s', answer)).toBe('accepted');
  });

  it('a new execution has no tries, though 0.1.0 left the counts of the last one', async () => {
    const driver = mapDriver();
    const store = keyValueStore(driver);
    await store.create(session('s'));
    const [[key, text] = ['', '']] = await driver.get(['session/s']);
    const kept = JSON.parse(text) as { row: object };
    const row = { ...kept.row, tries: 4, deaths: 2, isQuarantined: true };
    await driver.write([[key, JSON.stringify({ ...kept, row })]], [key, text]);
    await store.accept('s', message(1), { phases: ['idle'] });
    expect(await store.find('s')).toMatchObject({ tries: 0, deaths: 0, isQuarantined: false });
  });

  it('has a codec and a largest text, for the runtime', () => {
    const codec = { encode: (text: string) => text, decode: (text: string) => text };
    expect(keyValueStore(mapDriver(), { codec, maxBytes: 5 })).toMatchObject({
      codec,
      maxBytes: 5,
    });
    expect(() => keyValueStore(mapDriver(), { maxBytes: 0 })).toThrow('maxBytes');
  });
});
