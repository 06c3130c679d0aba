import type { RecoverablePage } from '../../sessions/session-store.ts';
import { found, holds, same } from './expect.ts';
import {
  at,
  command,
  fresh,
  LONG_MS,
  recoverable,
  waitingFor,
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
      const page = await waitingFor(harness.store, agent, { limit: 100 });
      const turns = [ann1, bob1, cyd1, ann2, cyd2, ann3, ann4];
      same(page, { ids: turns, afterOwner: null }, 'all of them');
      const { ids } = await waitingFor(harness.store, agent, { limit: 3 });
      same(ids, [ann1, bob1, cyd1], 'the first three');
      const none = { ids: [], afterOwner: null };
      same(await waitingFor(harness.store, fresh('agt'), { limit: 9 }), none, 'of no sessions');
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
        const page: RecoverablePage = await waitingFor(harness.store, agent, {
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
    name: 'recoverable answers for several agents, each with its own page, in the order of the request',
    async run(harness) {
      const { store } = harness;
      const prefix = fresh('agt');
      // names of which one begins with another, with characters around those that separate keys
      const agents = ['-b', '', '/', '0', ' É', '.c'].map((end) => `${prefix}${end}`);
      const owners = ['ann', 'bob', 'cyd'];
      const waiting = new Map<string, readonly string[]>();
      for (const agent of agents.filter((_agent, i) => i !== 2))
        waiting.set(agent, await openFor(harness, agent, owners));
      const pages = await store.recoverable({
        agents: agents.map((agent) => ({ agent })),
        limit: 9,
      });
      const expected = agents.map((agent) => ({ ids: waiting.get(agent) ?? [], afterOwner: null }));
      same(pages, expected, 'all pages');
      const [first = '', second = ''] = agents;
      const turns = [{ agent: second, afterOwner: 'ann' }, { agent: first }];
      same(
        await store.recoverable({ agents: turns, limit: 1 }),
        [
          { ids: [waiting.get(second)?.[1]], afterOwner: 'bob' },
          { ids: [waiting.get(first)?.[0]], afterOwner: 'ann' },
        ],
        'one page of each, after different owners',
      );
      same(await store.recoverable({ agents: [], limit: 9 }), [], 'of no agents');
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
      const newer = await waitingFor(store, 'support', { limit: 1_000_000, reads: 1_000 });
      holds(newer.ids.includes(second.id), 'a newer release lists it');
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
