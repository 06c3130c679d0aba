import { found, holds, refused, same } from './expect.ts';
import {
  at,
  call,
  command,
  EXECUTION,
  fresh,
  type Held,
  LONG_MS,
  message,
  type StoreHarness,
  type HarnessCase,
  root,
} from './store-harness.ts';

/** Creates a session that was parked after three attempts. */
async function parked(harness: StoreHarness): Promise<Held> {
  const held = await harness.held();
  const release = { kind: 'park', error: 'no tenant', tries: 3, at: at(50) } as const;
  same(await harness.store.release(held.id, held.token, release), true, 'whether it was parked');
  return held;
}

const retry = { kind: 'retry', error: 'no tenant', waitMs: 0 } as const;
const lease = (alone = false) => ({ worker: fresh('wrk'), ttlMs: LONG_MS, alone });

/** Parking, manual retries, and stops of unreadable sessions. */
export const parkingCases: readonly HarnessCase[] = [
  {
    name: 'a parked session has its error, and no worker claims it',
    async run(harness) {
      const { store } = harness;
      const { id } = await parked(harness);
      const { phase, status, error, tries, parkedAt, updatedAt, worker } = await harness.row(id);
      same(
        { phase, status, error, tries, parkedAt, updatedAt, worker },
        {
          phase: 'parked',
          status: 'failed',
          error: 'no tenant',
          tries: 3,
          parkedAt: at(50),
          updatedAt: at(50),
          worker: null,
        },
        'the session',
      );
      same(await store.claim(id, lease(true)), null, 'a claim');
      const { owner } = await harness.row(id);
      same((await store.list({ owner, phase: 'parked', limit: 9 })).length, 1, 'in its list');
      same((await store.list({ owner, phase: 'open', limit: 9 })).length, 0, 'among the open');
      same((await store.list({ owner, status: 'failed', limit: 9 })).length, 1, 'by status');
      const all = await store.list({ phase: 'parked', limit: 1_000_000 });
      holds(
        all.some((row) => row.id === id),
        'the list of all owners has it',
      );
    },
  },
  {
    name: 'a retry opens a parked session with counts of 0, and does not change others',
    async run(harness) {
      const { store, row } = harness;
      const { id } = await parked(harness);
      same(await store.request(id, { retry: at(60), by: 'olga' }), 'parked', 'the phase found');
      const { phase, tries, deaths, error, parkedAt, updatedAt } = await row(id);
      same(
        { phase, tries, deaths, error, parkedAt, updatedAt },
        { phase: 'open', tries: 0, deaths: 0, error: null, parkedAt: null, updatedAt: at(60) },
        'the session',
      );
      const { token } = await harness.take(id);
      const { retriedBy, retriedAt } = await row(id);
      same({ retriedBy, retriedAt }, { retriedBy: 'olga', retriedAt: at(60) }, 'who retried it');
      await store.release(id, token, { kind: 'park', error: 'no tenant', tries: 3, at: at(70) });
      same((await row(id)).retriedBy, 'olga', 'who retried it, when it is parked again');
      await store.request(id, { retry: at(80) });
      const again = await row(id);
      same([again.retriedBy, again.retriedAt], [null, at(80)], 'a retry by an older release');
      await harness.take(id);
      for (const other of [await harness.idle(), await harness.open(), await harness.paused()]) {
        const before = await row(other.id);
        same(await store.request(other.id, { retry: at(60) }), before.phase, 'the phase found');
        same(await row(other.id), before, 'another session');
      }
      same(await store.request(fresh('ses'), { retry: at(60) }), null, 'of no session');
    },
  },
  {
    name: 'a retry keeps the quarantine',
    async run({ store, dying, row, take }) {
      const { id, token } = await dying(2);
      await store.release(id, token, { kind: 'park', error: 'died', tries: 5, at: at(50) });
      await store.request(id, { retry: at(60) });
      same(await store.claim(id, lease()), null, 'a claim beside other sessions');
      await take(id, LONG_MS, { alone: true });
      same((await row(id)).deaths, 0, 'its deaths');
    },
  },
  {
    name: 'a parked session keeps its commands and answers',
    async run(harness) {
      const { store, row } = harness;
      const { id, token } = await harness.held();
      await store.commit({
        sessionId: id,
        token,
        revision: 0,
        root: root(),
        calls: [call('a', 'waiting')],
      });
      await store.release(id, token, { kind: 'park', error: 'no tenant', tries: 1, at: at(50) });
      const refusal = { accepted: false, phase: 'parked' };
      const second = command('{"n":2}');
      same(await store.accept(id, second, { phases: ['idle', 'open'] }), refusal, 'a command');
      const accepted = { accepted: true, phase: 'parked' };
      same(await store.accept(id, second, { phases: ['parked'] }), accepted, 'one to wait');
      const answer = { executionId: EXECUTION, callId: 'a', body: '{}', at: at(55) };
      same(await store.decide(id, answer), 'accepted', 'an answer');
      same((await row(id)).phase, 'parked', 'the phase');
      await store.request(id, { retry: at(60) });
      same((await row(id)).phase, 'open', 'the phase after a retry');
      const decided = await store.calls(id, EXECUTION, { state: 'decided' });
      same(decided.length, 1, 'the answers that were kept');
    },
  },
  {
    name: 'a stop opens a parked session, and a concurrent stop prevents parking',
    async run(harness) {
      const { store, row } = harness;
      const { id } = await parked(harness);
      same(await store.request(id, { stop: 'enough' }), 'parked', 'the phase found');
      const opened = await row(id);
      same([opened.phase, opened.stopReason], ['open', 'enough'], 'the session');
      same([opened.error, opened.parkedAt], [null, null], 'what it was parked with');
      await harness.take(id);
      const held = await harness.held();
      await store.request(held.id, { stop: 'enough' });
      const release = { kind: 'park', error: 'no tenant', tries: 3, at: at(50) } as const;
      same(await store.release(held.id, held.token, release), true, 'whether it was released');
      same((await row(held.id)).phase, 'open', 'the phase');
      await harness.take(held.id);
    },
  },
  {
    name: 'an attempt that fails after a stop request is retried without a wait',
    async run(harness) {
      const { store } = harness;
      const { id, token } = await harness.held();
      await store.request(id, { stop: 'enough' });
      const release = { ...retry, waitMs: LONG_MS };
      same(await store.release(id, token, release), true, 'whether it was released');
      await harness.take(id);
    },
  },
  {
    name: 'a close ends the execution only on the row, until a commit ends it',
    async run({ store, held, row, take }) {
      const { id, token } = await held();
      await store.request(id, { stop: 'enough' });
      const { number: done } = found(await store.nextCommand(id), 'the command');
      await store.commit({ sessionId: id, token, revision: 0, root: root(), done });
      const release = { kind: 'close', reason: 'enough', at: at(50) } as const;
      same(await store.release(id, token, release), true, 'whether it was closed');
      const { phase, status, stopReason, closeReason, requires } = await row(id);
      same(
        { phase, status, stopReason, closeReason, requires },
        { phase: 'idle', status: 'stopped', stopReason: null, closeReason: 'enough', requires: 2 },
        'the session',
      );
      await store.accept(id, command('{"n":2}'), { phases: ['idle'] });
      const next = await take(id);
      const { number } = found(await store.nextCommand(id), 'the command');
      await next.commit({ root: root({ status: 'stopped' }), done: number, end: 'ended' });
      const ended = await row(id);
      same([ended.closeReason, ended.requires], [null, 1], 'after the end');
    },
  },
  {
    name: 'a close with a further command leaves the session open',
    async run({ store, held, row }) {
      const { id, token } = await held();
      await store.request(id, { stop: 'enough' });
      await store.release(id, token, { kind: 'close', reason: 'enough', at: at(50) });
      const { phase, closeReason, tries } = await row(id);
      same(
        { phase, closeReason, tries },
        { phase: 'open', closeReason: 'enough', tries: 0 },
        'the session',
      );
    },
  },
  {
    name: 'a worker cannot write after its attempt ended, and a replaced one cannot release',
    async run({ store, held, lapse, leaseMs, row, take }) {
      const first = await held();
      await store.release(first.id, first.token, retry);
      await refused(first.commit({ messages: [message(0)] }), 'stale_owner', 'a commit after it');
      const second = await take(first.id, leaseMs);
      await lapse();
      await take(first.id);
      const before = await row(first.id);
      same(await store.release(first.id, second.token, retry), false, 'a release by the old one');
      same(await row(first.id), before, 'the session');
      same(await store.release(fresh('ses'), 1, retry), false, 'a release of no session');
    },
  },
];
