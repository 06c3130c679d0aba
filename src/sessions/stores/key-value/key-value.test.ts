import { describe, expect, it } from 'vitest';
import { mapDriver } from '../../../../test/setup/key-values.ts';
import { newSessionRow } from '../../../../test/setup/session-row.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { sessionStoreContract } from '../../../testing/session-store-contract.ts';
import { call, root } from '../../../testing/store-contract/store-harness.ts';
import { keyValueStore } from './index.ts';

const message = (n: number) =>
  ({ kind: 'message', executionId: 'e', body: `${n}`, at: '2026-01-01T00:00:01.000Z' }) as const;

describe('the contract of the key-value store', () => {
  for (const { name, run } of sessionStoreContract(() => keyValueStore(mapDriver()))) it(name, run);
});

describe('the key-value store', () => {
  it('loses no concurrent change, because a writer that comes second reads again', async () => {
    const store = keyValueStore(mapDriver());
    await store.create(newSessionRow('s'));
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

  it('rejects with store_failed if other writers are always faster', async () => {
    const store = keyValueStore({ ...mapDriver(), write: () => false });
    await expect(store.create(newSessionRow('s'))).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('Session "s" was changed by others'),
      details: { sessionId: 's' },
    });
  });

  it('wraps driver errors in store_failed with the operation', async () => {
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

  it('rejects every call after close, and closes the driver once', async () => {
    let closed = 0;
    const store = keyValueStore({ ...mapDriver(), close: () => void closed++ });
    await Promise.all([store.close(), store.close()]);
    expect(closed).toBe(1);
    for (const call of [
      store.find('s'),
      store.list({ limit: 1 }),
      store.create(newSessionRow('s')),
    ])
      await expect(call).rejects.toMatchObject({ code: 'store_failed', message: /closed/ });
  });

  it('measures by its own clock how long a lease was not renewed, not by the clock of the driver', async () => {
    const clock = fakeClock();
    let ahead = 0;
    const now = (): number => clock.monotonic() + ahead;
    const store = keyValueStore({ ...mapDriver(), now }, { clock });
    await store.create(newSessionRow('s'));
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

  it('reads further pages if a filter leaves out entries', async () => {
    const store = keyValueStore(mapDriver());
    for (let n = 0; n < 450; n++)
      await store.create(newSessionRow(`s${n}`, { agent: n === 0 ? 'rare' : 'support' }));
    const rare = await store.list({ owner: 'ann', agent: 'rare', limit: 5 });
    expect(rare.map(({ id }) => id)).toEqual(['s0']);
    expect(await store.list({ limit: 1_000 })).toHaveLength(450);
  });

  it('distinguishes names that differ in case or have key separators', async () => {
    const store = keyValueStore(mapDriver());
    const owners = ['a', 'A', 'a/b', 'a~002fb', 'ä', '\ud800', ''];
    for (const [i, owner] of owners.entries())
      await store.create(newSessionRow(`s${i}`, { owner }));
    for (const [i, owner] of owners.entries())
      expect((await store.list({ owner, limit: 9 })).map(({ id }) => id)).toEqual([`s${i}`]);
  });

  it('rejects a message or step at a position that is taken, and writes nothing of that commit', async () => {
    const store = keyValueStore(mapDriver());
    await store.create(newSessionRow('s'));
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

  it('D91: infers from the calls of release 0.1.0 that a call waited in another execution', async () => {
    const driver = mapDriver();
    const isNew = ([key]: readonly [string, string | null]): boolean =>
      /\/(wait|execution)\//.test(key);
    const write: typeof driver.write = (changes, condition) =>
      driver.write(
        changes.filter((change) => !isNew(change)),
        condition,
      );
    const store = keyValueStore(driver);
    await store.create(newSessionRow('s'));
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

  it('resets the counts that release 0.1.0 left when a new execution begins', async () => {
    const driver = mapDriver();
    const store = keyValueStore(driver);
    await store.create(newSessionRow('s'));
    const [[key, text] = ['', '']] = await driver.get(['session/s']);
    const kept = JSON.parse(text) as { row: object };
    const row = { ...kept.row, tries: 4, deaths: 2, isQuarantined: true };
    await driver.write([[key, JSON.stringify({ ...kept, row })]], [key, text]);
    await store.accept('s', message(1), { phases: ['idle'] });
    expect(await store.find('s')).toMatchObject({ tries: 0, deaths: 0, isQuarantined: false });
  });

  it('exposes codec and maxBytes to the runtime', () => {
    const codec = { encode: (text: string) => text, decode: (text: string) => text };
    expect(keyValueStore(mapDriver(), { codec, maxBytes: 5 })).toMatchObject({
      codec,
      maxBytes: 5,
    });
    expect(() => keyValueStore(mapDriver(), { maxBytes: 0 })).toThrow('maxBytes');
  });
});
