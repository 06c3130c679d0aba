import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  aboutToPause,
  answer,
  open,
  query,
  queued,
} from '../../../../test/setup/postgres-stores.ts';
import { AgentError } from '../../../errors/agent-error.ts';
import {
  at,
  call,
  command,
  EXECUTION,
  fresh,
  line,
  LONG_MS,
  makeHarness,
  message,
  root,
} from '../../../testing/store-contract/store-harness.ts';
import type { SessionStore } from '../../session-store.ts';

const forked = {
  owner: 'o',
  agent: 'support',
  status: 'stopped',
  executionId: EXECUTION,
  head: '{}',
  messageCount: 3,
  stepCount: 2,
  createdAt: at(200),
} as const;

describe('races', () => {
  it('an answer that is queued before a pause keeps the session open', async () => {
    const [store, other] = [open(), open()];
    const { id, commit, worker } = await aboutToPause(store);
    const [given, receipt] = await queued(
      id,
      () => other.decide(id, answer),
      () => commit({ root: root({ status: 'paused' }), end: 'paused' }),
    );
    expect([given, receipt.phase]).toEqual(['accepted', 'open']);
    expect(await store.find(id)).toMatchObject({ phase: 'open', worker, isLeased: true });
  });

  it('an answer that is queued after a pause opens the session again', async () => {
    const [store, other] = [open(), open()];
    const { id, commit } = await aboutToPause(store);
    const [receipt, given] = await queued(
      id,
      () => commit({ root: root({ status: 'paused' }), end: 'paused' }),
      () => other.decide(id, answer),
    );
    expect([given, receipt.phase]).toEqual(['accepted', 'paused']);
    expect(await store.find(id)).toMatchObject({ phase: 'open', worker: null });
  });

  it('an answer to a call that the previous commit wrote is accepted', async () => {
    const [store, other] = [open(), open()];
    const { id, commit } = await makeHarness(store, 60).held();
    const pause = { root: root({ status: 'paused' }), calls: [call('a', 'waiting')] };
    const [, given] = await queued(
      id,
      () => commit({ ...pause, end: 'paused' }),
      () => other.decide(id, answer),
    );
    expect(given).toBe('accepted');
    expect(await store.find(id)).toMatchObject({ phase: 'open' });
  });

  it('an answer to a call that then gets a result does not prevent a later pause', async () => {
    const [store, other] = [open(), open()];
    const { id, commit } = await aboutToPause(store);
    const [given] = await queued(
      id,
      () => other.decide(id, answer),
      () => commit({ calls: [call('a', 'committed', { result: '"aborted"' })] }),
    );
    expect(given).toBe('accepted');
    expect(await line(store, id, 'a')).toMatchObject({ state: 'committed', answer: answer.body });
    expect(await commit({ end: 'paused' })).toMatchObject({ phase: 'paused' });
  });

  it('a message that is queued before an end keeps the session open', async () => {
    const [store, other] = [open(), open()];
    const { id, commit, worker } = await aboutToPause(store);
    const [given, receipt] = await queued(
      id,
      () => other.accept(id, command('{"n":2}'), { phases: ['open'] }),
      () => commit({ root: root({ status: 'completed' }), end: 'ended' }),
    );
    expect([given, receipt.phase]).toEqual([{ accepted: true, phase: 'open' }, 'open']);
    expect(await store.find(id)).toMatchObject({ phase: 'open', worker, isLeased: true });
  });

  it('a message that is queued after an end finds the session idle', async () => {
    const [store, other] = [open(), open()];
    const { id, commit } = await aboutToPause(store);
    const [receipt, given] = await queued(
      id,
      () => commit({ root: root({ status: 'completed' }), end: 'ended' }),
      () => other.accept(id, command('{"n":2}'), { phases: ['open'] }),
    );
    expect([given, receipt.phase]).toEqual([{ accepted: false, phase: 'idle' }, 'idle']);
    expect(await store.nextCommand(id)).toBeNull();
  });

  it('a stop that is queued before a pause keeps the session open', async () => {
    const [store, other] = [open(), open()];
    const { id, commit } = await aboutToPause(store);
    const [, receipt] = await queued(
      id,
      () => other.request(id, { stop: 'enough' }),
      () => commit({ end: 'paused' }),
    );
    expect(receipt).toEqual({ phase: 'open', stopReason: 'enough', pauseReason: null });
  });

  it('a deletion removes the rows of the previous commit, and the next commit is stale', async () => {
    const [store, other] = [open(), open()];
    const { id, commit, next } = await aboutToPause(store);
    const late = next({ messages: [message(1)] });
    const [, isGone] = await queued(
      id,
      () => commit({ messages: [message(0)], calls: [call('b', 'started')] }),
      () => other.delete(id),
    );
    expect(isGone).toBe(true);
    await expect(store.commit(late)).rejects.toMatchObject({ code: 'stale_owner' });
    expect(await store.size(id)).toEqual({ rows: 0, bytes: 0 });
  });

  it('loses no answer in 200 races between an answer and a pause', async () => {
    const [store, other] = [open(), open()];
    const seen = { open: 0, paused: 0, idle: 0, parked: 0 };
    const one = async (i: number): Promise<void> => {
      const { id, commit, worker } = await aboutToPause(store);
      const decide = async (): Promise<string> => {
        await wait(i % 3);
        return other.decide(id, answer);
      };
      const [given, receipt] = await Promise.all([
        decide(),
        commit({ root: root({ status: 'paused' }), end: 'paused' }),
      ]);
      expect(given).toBe('accepted');
      seen[receipt.phase]++;
      const isKept = receipt.phase === 'open';
      expect(await store.find(id)).toMatchObject({
        phase: 'open',
        worker: isKept ? worker : null,
        isLeased: isKept,
      });
      if (isKept) await commit({ calls: [call('a', 'started')] });
      else await (await makeHarness(store, 60).take(id)).commit({ calls: [call('a', 'started')] });
    };
    for (let i = 0; i < 200; i += 8)
      await Promise.all(Array.from({ length: 8 }, (_, n) => one(i + n)));
    expect(seen.open + seen.paused).toBe(200);
  }, 60_000);

  it('accepts and continues or refuses each message in 200 races between a message and an end', async () => {
    const [store, other] = [open(), open()];
    const one = async (i: number): Promise<void> => {
      const { id, commit, worker } = await aboutToPause(store);
      const send = async (): ReturnType<SessionStore['accept']> => {
        await wait(i % 3);
        return other.accept(id, command('{"n":2}'), { phases: ['open'] });
      };
      const [given, receipt] = await Promise.all([
        send(),
        commit({ root: root({ status: 'completed' }), end: 'ended' }),
      ]);
      const isFirst = given?.accepted === true;
      expect(given).toEqual({ accepted: isFirst, phase: isFirst ? 'open' : 'idle' });
      expect(receipt.phase).toBe(isFirst ? 'open' : 'idle');
      expect(await store.find(id)).toMatchObject({
        phase: isFirst ? 'open' : 'idle',
        worker: isFirst ? worker : null,
      });
      expect((await store.nextCommand(id))?.body).toBe(isFirst ? '{"n":2}' : undefined);
    };
    for (let i = 0; i < 200; i += 8)
      await Promise.all(Array.from({ length: 8 }, (_, n) => one(i + n)));
  }, 60_000);

  it('a session that 20 workers claim at the same time goes to one', async () => {
    const stores = [open(), open(), open(), open()];
    for (let round = 0; round < 10; round++) {
      const { id } = await makeHarness(stores[0]!, 60).open();
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          stores[i % 4]!.claim(id, { worker: `w${i}`, ttlMs: LONG_MS }),
        ),
      );
      const won = claims.filter((row) => row !== null);
      expect(won).toHaveLength(1);
      expect(await stores[1]!.find(id)).toEqual(won[0]);
    }
  });

  it('concurrent operations on a few sessions cause no deadlock and no error', async () => {
    const deadlocks = async (): Promise<unknown> =>
      query(`select deadlocks from pg_stat_database where datname = current_database()`);
    const before = await deadlocks();
    const stores = [open(), open(), open()];
    const harness = makeHarness(stores[0]!, 60);
    const ids = await Promise.all(Array.from({ length: 4 }, async () => (await harness.idle()).id));
    const tolerated = new Set<string>(['stale_owner', 'conflict']);
    const works: ((store: SessionStore, id: string) => Promise<unknown>)[] = [
      (store, id) => store.accept(id, command(), { phases: ['idle', 'open', 'paused'] }),
      (store, id) => store.decide(id, answer),
      (store, id) => store.request(id, { stop: 'enough' }),
      async (store) => store.renew({ worker: 'w', ttlMs: 5, leases: await store.signals('w') }),
      (store) => store.prune({ olderThan: at(1000) }),
      (store, id) => store.fork(id, { ...forked, id: fresh('ses') }),
      async (store, id) => {
        const row = await store.claim(id, { worker: 'w', ttlMs: 5 });
        if (!row) return;
        const commit = { sessionId: id, token: row.token, at: at(5), root: root() };
        const done = (await store.nextCommand(id))?.number;
        const first = { ...commit, revision: row.revision, calls: [call('a', 'waiting')] };
        await store.commit(done === undefined ? first : { ...first, done });
        await store.commit({ ...commit, revision: row.revision + 1, end: 'paused' });
      },
    ];
    const until = Date.now() + 1500;
    const run = async (n: number): Promise<void> => {
      for (let i = n; Date.now() < until; i += 7) {
        const work = works[i % works.length]!(stores[n % 3]!, ids[(i * 3 + n) % 4]!);
        await work.catch((error: unknown) => {
          if (!AgentError.is(error) || !tolerated.has(error.code)) throw error;
        });
        await wait(Math.random() * 3);
      }
    };
    await Promise.all(Array.from({ length: 14 }, (_, n) => run(n)));
    expect(await deadlocks()).toEqual(before);
  }, 30_000);
});
