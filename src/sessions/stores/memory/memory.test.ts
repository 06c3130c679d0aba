import { describe, expect, it } from 'vitest';
import { newSessionRow } from '../../../../test/setup/session-row.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { sessionStoreContract } from '../../../testing/session-store-contract.ts';
import { memoryStore } from './index.ts';

const session = newSessionRow('s', { owner: 'o' });
const message = {
  kind: 'message',
  executionId: 'e',
  body: '{}',
  at: '2026-01-01T00:00:01.000Z',
} as const;

describe('the contract of the memory store', () => {
  for (const { name, run } of sessionStoreContract(() => memoryStore())) it(name, run);
});

describe('the memory store', () => {
  it('measures leases by the clock it is given', async () => {
    const clock = fakeClock();
    const store = memoryStore({ clock });
    await store.create(session);
    await store.accept('s', message, { phases: ['idle'] });
    await store.claim('s', { worker: 'a', ttlMs: 15_000 });
    clock.jump(14_999);
    expect(await store.claim('s', { worker: 'b', ttlMs: 15_000 })).toBeNull();
    clock.jump(1);
    expect(await store.urgent({ agents: ['support'], limit: 9 })).toEqual(['s']);
    expect(await store.claim('s', { worker: 'b', ttlMs: 15_000 })).toMatchObject({ worker: 'b' });
  });

  it('keeps rows that callers cannot change', async () => {
    const store = memoryStore();
    await store.create(session);
    await store.accept('s', message, { phases: ['idle'] });
    const { token } = (await store.claim('s', { worker: 'a', ttlMs: 1000 }))!;
    const row = { agentId: '', position: 0, role: 'user', body: '"as written"' };
    await store.commit({ sessionId: 's', token, revision: 0, at: message.at, messages: [row] });
    row.body = '"changed"';
    const [read] = await store.messages('s', '');
    expect(() => Object.assign(read!, { body: '"changed"' })).toThrow(TypeError);
    expect(await store.messages('s', '')).toMatchObject([{ body: '"as written"' }]);
  });

  it('rejects a message or step at a position that is taken, and writes nothing of that commit', async () => {
    const store = memoryStore();
    await store.create(session);
    await store.accept('s', message, { phases: ['idle'] });
    const { token } = (await store.claim('s', { worker: 'a', ttlMs: 1000 }))!;
    const row = { agentId: '', position: 0, role: 'user', body: '{}' };
    const commit = { sessionId: 's', token, at: message.at };
    await store.commit({ ...commit, revision: 0, messages: [row] });
    const step = { agentId: '', position: 0, executionId: 'e', body: '{}', mark: '{}' };
    await expect(
      store.commit({ ...commit, revision: 1, steps: [step], messages: [row] }),
    ).rejects.toMatchObject({ code: 'store_failed' });
    expect(await store.steps('s', '')).toEqual([]);
    expect(await store.find('s')).toMatchObject({ revision: 1 });
  });

  it('exposes codec and maxBytes to the runtime', () => {
    const codec = { encode: (text: string) => text, decode: (text: string) => text };
    expect(memoryStore({ codec, maxBytes: 5 })).toMatchObject({ codec, maxBytes: 5 });
    expect('codec' in memoryStore()).toBe(false);
    expect(() => memoryStore({ maxBytes: 0 })).toThrow('maxBytes');
  });

  it('rejects every call after close', async () => {
    const store = memoryStore();
    await store.create(session);
    await store.close();
    await store.close();
    for (const call of [store.find('s'), store.list({ limit: 1 }), store.create(session)])
      await expect(call).rejects.toMatchObject({ code: 'store_failed', message: /closed/ });
  });
});
