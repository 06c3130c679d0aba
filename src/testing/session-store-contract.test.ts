import { describe, expect, it } from 'vitest';
import type { SessionRow } from '../sessions/session-rows.ts';
import type { CommitReceipt, SessionStore } from '../sessions/session-store.ts';
import { memoryStore } from '../sessions/stores/memory/index.ts';
import { sessionStoreContract } from './session-store-contract.ts';

/** Returns the names of the cases that a store fails. */
async function failures(break_: (store: SessionStore) => Partial<SessionStore>): Promise<string[]> {
  const store = memoryStore();
  const broken = { ...store, ...break_(store) };
  const failed = await Promise.all(
    sessionStoreContract(() => broken, { leaseMs: 30 }).map(({ name, run }) =>
      run().then(
        () => [],
        (error: Error) => [`${name}: ${error.message}`],
      ),
    ),
  );
  return failed.flat();
}

const receipt: CommitReceipt = { phase: 'open', stopReason: null, pauseReason: null };

const mistakes: readonly [string, (store: SessionStore) => Partial<SessionStore>, RegExp][] = [
  [
    'accepts a used id',
    (store) => ({ create: async (row) => (await store.create(row)) || true }),
    /taken id/,
  ],
  [
    'silently drops a commit with a stale token',
    (store) => ({ commit: (commit) => store.commit(commit).catch(() => receipt) }),
    /D16, D18: a stale token/,
  ],
  [
    'writes the same commit twice',
    (store) => ({
      commit: async (commit) => {
        const row = await store.find(commit.sessionId);
        const isOld = row?.token === commit.token && row.revision > commit.revision;
        return store.commit(isOld ? { ...commit, revision: row.revision } : commit);
      },
    }),
    /a repeated commit/,
  ],
  [
    'remembers no execution',
    (store) => ({
      accept: (id, { contentHash: _forgotten, ...command }, condition) =>
        store.accept(id, command, condition),
    }),
    /is not accepted again in any phase/,
  ],
  [
    'ignores other content under a known id',
    (store) => ({
      accept: (id, command, condition) =>
        store.accept(
          id,
          { ...command, ...(command.contentHash && { contentHash: 'x' }) },
          condition,
        ),
    }),
    /other content under the same id/,
  ],
  [
    'lets every call start again',
    (store) => ({
      commit: (commit) =>
        store.commit({
          ...commit,
          ...(commit.calls && { calls: commit.calls.map((call) => ({ ...call, again: true })) }),
        }),
    }),
    /D24/,
  ],
  [
    'drops the large values of a commit',
    (store) => ({ commit: (commit) => store.commit({ ...commit, blobs: [] }) }),
    /D39/,
  ],
  [
    'ends a run without reading new commands',
    (store) => ({
      async commit(commit) {
        const given = await store.commit(commit);
        return commit.end === 'ended' ? { ...given, phase: 'idle' } : given;
      },
    }),
    /a further command/,
  ],
  [
    'returns leased sessions to a claim',
    (store) => ({
      async claim(id, lease) {
        const row = await store.claim(id, lease);
        return row ?? (await store.find(id));
      },
    }),
    /D16: one of several concurrent claims/,
  ],
  [
    'renews nothing',
    (store) => ({ renew: ({ worker }) => store.signals(worker) }),
    /renew extends the named leases/,
  ],
  [
    'renews leases that were not named',
    (store) => ({
      async renew({ worker, ttlMs, leases }) {
        await store.renew({ worker, ttlMs, leases: await store.signals(worker) });
        return store.renew({ worker, ttlMs, leases });
      },
    }),
    /a lease that renew does not name/,
  ],
  [
    'lists leased sessions as recoverable',
    (store) => ({
      recoverable: async ({ limit }) => [
        {
          ids: (await store.list({ status: 'in_progress', limit })).map(({ id }) => id),
          afterOwner: null,
        },
      ],
    }),
    /D18: recoverable/,
  ],
  [
    'accepts at any revision',
    (store) => ({
      accept: (id, command, { phases }) => store.accept(id, command, { phases }),
    }),
    /accept checks the revision/,
  ],
  [
    'pages by time only',
    (store) => ({
      async list({ after, limit, ...query }) {
        const rows = await store.list({ ...query, limit: 1_000_000 });
        const isBehind = (row: SessionRow): boolean => !after || row.updatedAt < after.updatedAt;
        return rows.filter(isBehind).slice(0, limit);
      },
    }),
    /pages contain every session once/,
  ],
  [
    'returns the oldest instead of the newest',
    (store) => ({
      async messages(id, agentId, { limit, ...range } = {}) {
        return (await store.messages(id, agentId, range)).slice(0, limit);
      },
    }),
    /the newest that match/,
  ],
  [
    'answers a call twice',
    (store) => ({
      decide: async (id, answer) => {
        const outcome = await store.decide(id, answer);
        return outcome === 'answered' ? 'accepted' : outcome;
      },
    }),
    /D16: one of two concurrent answers/,
  ],
  [
    'forgets which calls needed approval',
    (store) => ({
      decide: (id, answer) => store.decide(id, { ...answer, ifUnambiguous: false }),
    }),
    /D91: an answer without an execution[^]*D91: a fork remembers[^]*D91: prune keeps/,
  ],
  [
    'returns a wrong phase',
    (store) => ({
      async request(id, request) {
        const phase = await store.request(id, request);
        return phase === 'paused' ? 'open' : phase;
      },
    }),
    /request stores a stop/,
  ],
  ['deletes nothing', () => ({ delete: async () => true }), /D44/],
  [
    'prunes nothing',
    () => ({ prune: async () => ({ sessions: 0, rows: 0 }) }),
    /D41: prune deletes events/,
  ],
  [
    'prunes sessions that changed since',
    (store) => ({
      prune: ({ owner }) => store.prune({ olderThan: '9999', ...(owner && { owner }) }),
    }),
    /changed since/,
  ],
  [
    'forks an empty session',
    (store) => ({ fork: (_, row) => store.create(row) }),
    /fork copies messages/,
  ],
  [
    'forks all compactions',
    (store) => ({ fork: (id, row) => store.fork(id, { ...row, compactionCount: 1e9 }) }),
    /fork copies the compactions below/,
  ],
  [
    'forks no compactions',
    (store) => ({
      fork: (id, { compactionCount: _forgotten, ...row }) => store.fork(id, row),
    }),
    /fork copies the compactions below/,
  ],
  [
    'writes compactions outside the commit',
    (store) => ({
      async commit({ compactions = [], ...commit }) {
        const written = await store.commit(commit);
        const row = await store.find(commit.sessionId);
        const next = { sessionId: commit.sessionId, token: commit.token, compactions };
        await store.commit({ ...next, revision: row?.revision ?? 0 }).catch(() => {});
        return written;
      },
    }),
    /a commit writes compactions with its state or not at all/,
  ],
  [
    'reads compactions of every kind',
    (store) => ({
      compactions: (id, agentId, { kind: _ignored, ...range } = {}) =>
        store.compactions(id, agentId, range),
    }),
    /compactions are read in order/,
  ],
  [
    'normalizes unusual text',
    (store) => ({
      messages: async (...query) =>
        (await store.messages(...query)).map((row) => ({
          ...row,
          body: row.body.normalize('NFC'),
        })),
    }),
    /unusual text/,
  ],
];

describe('the contract of session stores', () => {
  it('passes a correct store, also with all cases concurrently', async () => {
    expect(await failures(() => ({}))).toEqual([]);
  });

  it.each(mistakes)('detects a store that %s', async (_, break_, expected) => {
    const failed = await failures(break_);
    expect(failed.join('\n')).toMatch(expected);
  });

  it('opens the store once, and not before a case runs', async () => {
    let opened = 0;
    const cases = sessionStoreContract(async () => {
      opened++;
      return memoryStore();
    });
    expect(opened).toBe(0);
    await Promise.all(cases.slice(0, 5).map(({ run }) => run()));
    expect(opened).toBe(1);
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  });
});
