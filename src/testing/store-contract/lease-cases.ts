import { found, holds, refused, same } from './expect.ts';
import {
  at,
  command,
  fresh,
  leaseOf,
  LONG_MS,
  message,
  recoverable,
  type HarnessCase,
  root,
  urgent,
  waitingFor,
} from './store-harness.ts';

export const leaseCases: readonly HarnessCase[] = [
  {
    name: 'claim takes the lease of open sessions only',
    async run({ store, idle, open, paused, row }) {
      const worker = fresh('wrk');
      const lease = { worker, ttlMs: LONG_MS };
      same(await store.claim((await idle()).id, lease), null, 'a claim of an idle session');
      same(await store.claim((await paused()).id, lease), null, 'a claim of a paused session');
      same(await store.claim(fresh('ses'), lease), null, 'a claim of no session');
      const { id } = await open();
      const before = await row(id);
      const claimed = found(await store.claim(id, lease), 'a claim of an open session');
      same(
        claimed,
        { ...before, token: claimed.token, worker, isLeased: true, tries: 1 },
        'the claimed session',
      );
      holds(claimed.token > before.token, 'the token is a new one');
      same(await row(id), claimed, 'the session as found');
    },
  },
  {
    name: 'D16: one of several concurrent claims of a session wins',
    async run({ store, open, row }) {
      const { id } = await open();
      const workers = [fresh('wrk'), fresh('wrk'), fresh('wrk'), fresh('wrk')];
      const claims = await Promise.all(
        workers.map((worker) => store.claim(id, { worker, ttlMs: LONG_MS })),
      );
      const won = claims.filter((claim) => claim !== null);
      same(won.length, 1, 'how many of four workers have the session');
      same((await row(id)).worker, workers[claims.findIndex(Boolean)], 'its holder');
    },
  },
  {
    name: 'a leased session cannot be claimed, not even by its holder; a released one can, with a larger token',
    async run({ store, held, take }) {
      const first = await held();
      for (const worker of [first.worker, fresh('wrk')])
        same(
          await store.claim(first.id, { worker, ttlMs: LONG_MS }),
          null,
          'a claim of a held one',
        );
      await first.commit({ end: 'handover' });
      const second = await take(first.id);
      holds(second.token > first.token, 'the second token is larger');
      await second.commit({ end: 'handover' });
      holds((await take(first.id)).token > second.token, 'the third token is larger still');
    },
  },
  {
    name: 'D18: an expired lease can be claimed, and its old holder can no longer write',
    async run({ store, held, lapse, leaseMs, row, take }) {
      const old = await held({ ttlMs: leaseMs });
      await old.commit({ messages: [message(0)] });
      await lapse();
      const lapsed = await row(old.id);
      same(lapsed.isLeased, false, 'whether the lease is still good');
      same(lapsed.worker, old.worker, 'the holder before the next claim');
      const heir = await take(old.id);
      await refused(old.commit({ messages: [message(1)] }), 'stale_owner', 'the old holder');
      await heir.commit({ messages: [message(1, { body: '"heir"' })] });
      const bodies = (await store.messages(old.id, '')).map(({ body }) => body);
      same(bodies, ['{"message":0}', '"heir"'], 'the messages');
    },
  },
  {
    name: 'the holder of an expired lease that no worker claimed can write and renew it',
    async run({ store, held, lapse, leaseMs, row }) {
      const lease = await held({ ttlMs: leaseMs });
      const { id, worker, token, commit } = lease;
      await lapse();
      await commit({ messages: [message(0)] });
      same(
        await store.renew({ worker, ttlMs: LONG_MS, leases: [leaseOf(lease)] }),
        [{ sessionId: id, token, stopReason: null, pauseReason: null }],
        'what a late renewal names',
      );
      same((await row(id)).isLeased, true, 'whether the lease is good again');
    },
  },
  {
    name: 'renew extends the named leases of the worker and returns those that it still has',
    async run({ store, held, open, lapse, leaseMs, row, take }) {
      const worker = fresh('wrk');
      const kept = await held({ worker, ttlMs: leaseMs });
      const second = await held({ worker, ttlMs: leaseMs });
      const returned = await held({ worker });
      const other = await held();
      const lost = await held({ worker, ttlMs: 1 });
      await returned.commit({ end: 'handover' });
      await new Promise((resolve) => setTimeout(resolve, 20));
      await take(lost.id);
      await open();
      const leases = [kept, second, returned, other, lost].map(leaseOf);
      const named = await store.renew({
        worker,
        ttlMs: LONG_MS,
        leases: [...leases, { sessionId: fresh('ses'), token: kept.token }],
      });
      same(
        named.toSorted((a, b) => a.token - b.token),
        [kept, second]
          .map(({ id, token }) => ({ sessionId: id, token, stopReason: null, pauseReason: null }))
          .toSorted((a, b) => a.token - b.token),
        'what the renewal names',
      );
      await lapse();
      for (const { id } of [kept, second]) {
        same((await row(id)).isLeased, true, 'whether a renewed lease is good');
        same(await store.claim(id, { worker: fresh('wrk'), ttlMs: 1 }), null, 'a claim of it');
      }
      same((await row(lost.id)).worker === worker, false, 'whether the lost one is held again');
      same((await row(returned.id)).worker, null, 'the holder of the released one');
      same((await row(other.id)).worker, other.worker, 'the holder of another one');
      const ofAnother = { worker: fresh('wrk'), ttlMs: 1, leases };
      same(await store.renew(ofAnother), [], 'of a worker without leases');
      same(await store.renew({ worker, ttlMs: 1, leases: [] }), [], 'of no lease');
      for (const { id } of [kept, second])
        same((await row(id)).isLeased, true, 'whether a lease is as good as before');
    },
  },
  {
    name: 'a lease that renew does not name expires, even if its worker renews others',
    async run({ store, held, lapse, leaseMs, row, take }) {
      const worker = fresh('wrk');
      const kept = await held({ worker, ttlMs: leaseMs });
      const unknown = await held({ worker, ttlMs: leaseMs });
      const leases = [leaseOf(kept), { sessionId: unknown.id, token: unknown.token - 1 }];
      const named = await store.renew({ worker, ttlMs: LONG_MS, leases });
      same(
        named.map(({ sessionId }) => sessionId),
        [kept.id],
        'what the renewal names',
      );
      await lapse();
      same((await row(kept.id)).isLeased, true, 'whether the named lease is good');
      same((await row(unknown.id)).isLeased, false, 'whether the other one is');
      await take(unknown.id);
    },
  },
  {
    name: 'signals and renewals contain the requests for a lease',
    async run({ store, held }) {
      const worker = fresh('wrk');
      const lease = await held({ worker });
      const { id, token } = lease;
      await held();
      const signal = { sessionId: id, token, stopReason: null, pauseReason: null };
      same(await store.signals(worker), [signal], 'the signals');
      await store.request(id, { pause: 'lunch' });
      same(await store.signals(worker), [{ ...signal, pauseReason: 'lunch' }], 'after a pause');
      await store.request(id, { stop: 'enough' });
      const both = [{ ...signal, pauseReason: 'lunch', stopReason: 'enough' }];
      same(await store.signals(worker), both, 'after a stop');
      const renewal = { worker, ttlMs: LONG_MS, leases: [leaseOf(lease)] };
      same(await store.renew(renewal), both, 'the renewal');
      same(await store.signals(fresh('wrk')), [], 'of a worker without leases');
    },
  },
  {
    name: 'D18: recoverable lists open sessions without a lease, oldest change first; urgent lists expired leases',
    async run({ store, idle, open, paused, held, lapse, leaseMs }) {
      const owner = fresh('own');
      const expired = await held({ ttlMs: leaseMs }, { owner });
      await expired.commit({ at: at(300) });
      const handed = await held({}, { owner });
      await handed.commit({ at: at(200), end: 'handover' });
      const untouched = await open({ owner });
      const fromPause = await paused([], { owner });
      await store.accept(fromPause.id, command('{}', 100), { phases: ['paused'] });
      await held({}, { owner });
      await idle({ owner });
      await paused([], { owner });
      await lapse();
      const free = [untouched, fromPause, handed].map(({ id }) => id);
      same(await recoverable(store, owner), free, 'sessions without a lease');
      same(await urgent(store, owner), [expired.id], 'what expired');
      const { ids } = await waitingFor(store, 'support', { limit: 2 });
      same(ids.length, 2, 'how many come at a limit of 2');
      for (const id of [...free, expired.id])
        await store.claim(id, { worker: fresh('wrk'), ttlMs: LONG_MS });
      same(await recoverable(store, owner), [], 'sessions without a lease once all are claimed');
      same(await urgent(store, owner), [], 'what expired once all are claimed');
    },
  },
  {
    name: 'a worker cannot write after it released its lease',
    async run({ store, held, row }) {
      for (const end of ['ended', 'paused', 'handover'] as const) {
        const { id, commit } = await held();
        const { number: done } = found(await store.nextCommand(id), 'the command');
        await commit({ root: root(), done, end });
        const before = await row(id);
        await refused(commit({ messages: [message(0)] }), 'stale_owner', `a commit after ${end}`);
        same(await row(id), before, 'the session');
        same(await store.messages(id, ''), [], 'its messages');
      }
    },
  },
];
