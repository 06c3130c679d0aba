import { found, holds, same } from './expect.ts';
import {
  at,
  command,
  fresh,
  LONG_MS,
  recoverable,
  type StoreHarness,
  type HarnessCase,
  root,
} from './store-harness.ts';

/** Creates open sessions of one agent, one for each owner name, oldest first. */
async function openFor(
  harness: StoreHarness,
  agent: string,
  owners: readonly string[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const [i, owner] of owners.entries()) {
    const { id } = await harness.idle({ agent, owner });
    await harness.store.accept(id, command('{}', i + 1), { phases: ['idle'] });
    ids.push(id);
  }
  return ids;
}

/** Recovery: who finds what is left to do. */
export const recoveryCases: readonly HarnessCase[] = [
  {
    name: 'recoverable lists the sessions of one agent, and owners take turns',
    async run(harness) {
      const agent = fresh('agt');
      const other = fresh('agt');
      await openFor(harness, other, ['ann', 'bob']);
      const owners = ['ann', 'ann', 'ann', 'ann', 'bob', 'cyd', 'cyd'];
      const [ann1, ann2, ann3, ann4, bob1, cyd1, cyd2] = await openFor(harness, agent, owners);
      const page = await harness.store.recoverable({ agent, limit: 100 });
      const turns = [ann1, bob1, cyd1, ann2, cyd2, ann3, ann4];
      same(page, { ids: turns, afterOwner: null }, 'all of them');
      const { ids } = await harness.store.recoverable({ agent, limit: 3 });
      same(ids, [ann1, bob1, cyd1], 'the first three');
      same(
        await harness.store.recoverable({ agent: fresh('agt'), limit: 9 }),
        { ids: [], afterOwner: null },
        'of an agent without sessions',
      );
    },
  },
  {
    name: 'recoverable lists all owners, page by page',
    async run(harness) {
      const agent = fresh('agt');
      const owners = Array.from({ length: 7 }, (_n, i) => `owner-${i % 5}`);
      const ids = await openFor(harness, agent, owners);
      const seen: string[] = [];
      let afterOwner: string | null = null;
      for (let pages = 0; pages < 20; pages++) {
        const page: Awaited<ReturnType<typeof harness.store.recoverable>> =
          await harness.store.recoverable({
            agent,
            limit: 2,
            ...(afterOwner !== null && { afterOwner }),
          });
        holds(page.ids.length <= 2, 'a page keeps to its limit');
        seen.push(...page.ids);
        afterOwner = page.afterOwner;
        if (afterOwner === null) break;
      }
      same(afterOwner, null, 'where to continue after the last page');
      same(seen.length, 5, 'how many of seven came, one for each owner');
      holds(
        ids.slice(0, 5).every((id) => seen.includes(id)),
        'the oldest of each owner is among them',
      );
    },
  },
  {
    name: 'urgent lists sessions of any agent with a stop request, then expired leases of these agents',
    async run(harness) {
      const { store, leaseMs } = harness;
      const [mine, other] = [fresh('agt'), fresh('agt')];
      const owner = fresh('own');
      const [left = '', stopped = ''] = await openFor(harness, other, [owner, owner]);
      const paused = await harness.paused([], { owner, agent: other });
      const held = await harness.held({}, { owner, agent: other });
      const expired = await harness.held({ ttlMs: leaseMs }, { owner, agent: mine });
      const foreign = await harness.held({ ttlMs: leaseMs }, { owner, agent: other });
      const newer = { owner, requires: 1_000 };
      const newStop = await harness.open({ ...newer, agent: other });
      const newLease = { ttlMs: leaseMs, reads: 1_000 };
      const newExpired = await harness.held(newLease, { ...newer, agent: mine });
      for (const id of [stopped, paused.id, held.id, newStop.id])
        await store.request(id, { stop: 's' });
      await harness.lapse();
      const all = await store.urgent({ agents: [mine], limit: 1_000_000 });
      const ours = [stopped, paused.id, expired.id];
      const others = [left, held.id, foreign.id, newStop.id, newExpired.id];
      same(
        all.filter((id) => [...ours, ...others].includes(id)),
        ours,
        'what should not wait',
      );
      const more = await store.urgent({ agents: [mine], limit: 1_000_000, reads: 1_000 });
      holds(
        [newStop.id, newExpired.id].every((id) => more.includes(id)),
        'a newer release gets what requires it',
      );
      same((await store.urgent({ agents: [mine], limit: 1 })).length, 1, 'at a limit of 1');
    },
  },
  {
    name: 'only a newer release claims a command that requires it, until a commit lowers the requirement',
    async run({ store, idle, row }) {
      const { id } = await idle();
      const lease = { worker: fresh('wrk'), ttlMs: LONG_MS };
      const newer = { ...command(), requires: 1_000 };
      await store.accept(id, newer, { phases: ['idle'] });
      await store.accept(id, { ...command('{}'), requires: 1 }, { phases: ['open'] });
      same((await row(id)).requires, 1_000, 'what the session requires');
      same(await store.claim(id, lease), null, 'a claim');
      const held = await store.claim(id, { ...lease, reads: 1_000 });
      const { token, revision } = found(held, 'a claim by a newer release');
      await store.commit({ sessionId: id, token, revision, root: root(), end: 'handover' });
      same((await row(id)).requires, 1, 'after a commit that requires no more');
    },
  },
  {
    name: 'a session that requires a newer release is neither listed nor claimed',
    async run({ store, open, held, row, take }) {
      const owner = fresh('own');
      const { id } = await open({ owner, requires: 1_000 });
      same((await row(id)).requires, 1_000, 'what a new session requires');
      same(await recoverable(store, owner), [], 'what is listed');
      const lease = { worker: fresh('wrk'), ttlMs: LONG_MS };
      same(await store.claim(id, lease), null, 'a claim');
      same(await store.claim(id, { ...lease, reads: 999 }), null, 'a claim of a newer release');
      found(await store.claim(id, { ...lease, reads: 1_000 }), 'a claim of the newest release');
      const second = await held({}, { owner });
      await second.commit({ root: root({ requires: 1_000 }) });
      await second.commit({ end: 'handover' });
      same(await store.claim(second.id, lease), null, 'a claim after a commit that requires more');
      const query = { agent: 'support', limit: 1_000_000, reads: 1_000 };
      holds((await store.recoverable(query)).ids.includes(second.id), 'a newer release lists it');
      const third = await take(second.id, LONG_MS, { reads: 1_000 });
      await third.commit({ root: root(), at: at(99) });
      same((await row(second.id)).requires, 1, 'after a commit that requires no more');
    },
  },
  {
    name: 'a list can exclude agents',
    async run(harness) {
      const [known, unknown] = [fresh('agt'), fresh('agt')];
      const owner = fresh('own');
      await openFor(harness, known, [owner]);
      const [id] = await openFor(harness, unknown, [owner]);
      const rows = await harness.store.list({ owner, phase: 'open', notAgents: [known], limit: 9 });
      same(
        rows.map((row) => row.id),
        [id],
        'the sessions of other agents',
      );
    },
  },
];
