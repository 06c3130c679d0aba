import type { CompactionRow } from '../../sessions/session-rows.ts';
import { found, holds, refused, same } from './expect.ts';
import { conversation, finished, later } from './finished-session.ts';
import {
  at,
  command,
  EXECUTION,
  fresh,
  message,
  root,
  step,
  type HarnessCase,
  type Held,
  type StoreHarness,
} from './store-harness.ts';

const compaction = (position: number, patch: Partial<CompactionRow> = {}): CompactionRow => ({
  agentId: '',
  position,
  kind: position % 2 === 0 ? 'tool_results' : 'summary',
  toPosition: 10 * (position + 1),
  body: `{"compaction":${position}}`,
  ...patch,
});

const rows = (...positions: readonly number[]): readonly CompactionRow[] =>
  positions.map((position) => compaction(position));

/** Creates a finished session that has compactions of its own agent, and of agents of both executions. */
async function compacted(harness: StoreHarness): Promise<Held> {
  const { store } = harness;
  const { id } = await finished(harness);
  await store.accept(id, command(), { phases: ['idle'] });
  const held = await harness.take(id);
  const { number: done } = found(await store.nextCommand(id), 'the command');
  await held.commit({
    root: root({ status: 'completed', messageCount: 4, stepCount: 3, ...later }),
    compactions: [
      ...rows(0, 1, 2),
      compaction(0, { agentId: 'sub' }),
      compaction(0, { agentId: 'sub-2' }),
    ],
    done,
    end: 'ended',
    at: at(100),
  });
  return held;
}

/** Compactions of a conversation. */
export const compactionCases: readonly HarnessCase[] = [
  {
    name: 'compactions are read in order, from a position, before one, the newest ones, and by kind',
    async run({ store, held }) {
      const { id, commit } = await held();
      same(await store.compactions(id, ''), [], 'those of a session without any');
      same(await store.compactions(fresh('ses'), ''), [], 'those of an unknown session');
      await commit({ compactions: rows(0, 1) });
      await commit({ compactions: [compaction(0, { agentId: 'sub' }), ...rows(2, 3, 4)] });
      const read = (range?: Parameters<typeof store.compactions>[2]): Promise<unknown> =>
        store.compactions(id, '', range);
      same(await read(), rows(0, 1, 2, 3, 4), 'all');
      same(await read({ from: 3 }), rows(3, 4), 'those from a position');
      same(await read({ before: 2 }), rows(0, 1), 'those before a position');
      same(await read({ limit: 2 }), rows(3, 4), 'the newest');
      same(await read({ before: 4, from: 1, limit: 2 }), rows(2, 3), 'the newest of a range');
      same(await read({ kind: 'summary' }), rows(1, 3), 'the summaries');
      same(await read({ kind: 'summary', limit: 1 }), rows(3), 'the newest summary');
      same(await read({ kind: 'summary', limit: 1, before: 3 }), rows(1), 'an earlier summary');
      same(await read({ kind: 'tool_results', from: 1 }), rows(2, 4), 'those of the other kind');
      same(
        await store.compactions(id, 'sub'),
        [compaction(0, { agentId: 'sub' })],
        'those of another agent',
      );
    },
  },
  {
    name: 'a commit writes compactions with its state or not at all, and once if it is sent twice',
    async run(harness) {
      const { store } = harness;
      const held = await harness.held();
      const commit = held.next({
        root: root({ head: '{"compactions":1}' }),
        messages: [message(0)],
        compactions: rows(0),
      });
      await store.commit(commit);
      await store.commit(commit);
      same(await store.compactions(held.id, ''), rows(0), 'the compactions');
      same((await harness.row(held.id)).revision, 1, 'the revision');
      await refused(
        store.commit({ ...commit, token: held.token + 1, compactions: rows(1) }),
        'stale_owner',
        'a commit under another token',
      );
      await refused(
        store.commit({ ...commit, revision: 1, messages: [message(1)], compactions: rows(0) }),
        'store_failed',
        'a compaction at a taken position',
      );
      same(await store.compactions(held.id, ''), rows(0), 'the compactions after both');
      same(await store.messages(held.id, ''), [message(0)], 'the messages after both');
    },
  },
  {
    name: 'fork copies the compactions below the count, and each session has its own',
    async run(harness) {
      const { store } = harness;
      const source = await compacted(harness);
      const copied = async (compactionCount?: number): Promise<string> => {
        const id = fresh('ses');
        await store.fork(source.id, {
          id,
          owner: fresh('own'),
          agent: 'support',
          status: 'stopped',
          executionId: EXECUTION,
          head: '{}',
          messageCount: 3,
          stepCount: 2,
          createdAt: at(200),
          ...(compactionCount !== undefined && { compactionCount }),
        });
        return id;
      };
      const [none, two, all] = [await copied(), await copied(2), await copied(3)];
      same(await store.compactions(none, ''), [], 'those of a fork without a count');
      same(await store.compactions(two, ''), rows(0, 1), 'those of a fork at two');
      same(await store.compactions(all, ''), rows(0, 1, 2), 'those of a fork at the end');
      same(await store.compactions(all, 'sub'), [], 'those of other agents');
      await store.accept(two, command(), { phases: ['idle'] });
      const own = compaction(2, { body: '"its own"' });
      await (await harness.take(two)).commit({ steps: [step(2)], compactions: [own] });
      same(await store.compactions(two, ''), [...rows(0, 1), own], 'those of the fork');
      same(await store.compactions(source.id, ''), rows(0, 1, 2), 'those of the source');
      await store.delete(source.id);
      same(await store.compactions(all, ''), rows(0, 1, 2), 'those of a fork without its source');
    },
  },
  {
    name: 'prune keeps the compactions of the conversation, and drops those of agents of earlier executions',
    async run(harness) {
      const { store } = harness;
      const { id } = await compacted(harness);
      const { owner } = await harness.row(id);
      const kept = await conversation(store, id);
      await store.prune({ olderThan: at(500), owner });
      same(await store.compactions(id, ''), rows(0, 1, 2), 'those of the session');
      same(await store.compactions(id, 'sub'), [], 'those of an agent of an earlier execution');
      same((await store.compactions(id, 'sub-2')).length, 1, 'those of an agent of the last one');
      same(await conversation(store, id), kept, 'the conversation');
      const again = await store.prune({ olderThan: at(500), owner });
      same(again.rows, 0, 'how many rows a second prune drops');
    },
  },
  {
    name: 'delete and expire leave no compaction, also for a new session of the same id',
    async run(harness) {
      const { store } = harness;
      const bystander = await compacted(harness);
      const old = await compacted(harness);
      same(await store.delete(old.id), true, 'the deletion');
      same(await store.size(old.id), { rows: 0, bytes: 0 }, 'what is left');
      await harness.idle({ id: old.id });
      for (const agentId of ['', 'sub', 'sub-2'])
        same(await store.compactions(old.id, agentId), [], 'those of a new session');
      const expired = await compacted(harness);
      const { owner } = await harness.row(expired.id);
      const { rows: expected } = await store.size(expired.id);
      const dropped = await store.expire({ olderThan: at(500), owner });
      same(dropped, { sessions: 1, rows: expected }, 'what expire says');
      same(await store.compactions(expired.id, ''), [], 'those of an expired session');
      same(await store.compactions(bystander.id, ''), rows(0, 1, 2), 'those of another session');
    },
  },
  {
    name: 'size counts compactions',
    async run({ store, held }) {
      const { id, commit } = await held();
      const before = await store.size(id);
      const body = 'ü'.repeat(5000);
      await commit({ compactions: [compaction(0, { body }), compaction(1, { body })] });
      const after = await store.size(id);
      same(after.rows - before.rows, 2, 'the rows');
      const bytes = after.bytes - before.bytes;
      holds(bytes >= 20_000 && bytes < 20_500, `the session grew about 20,000 bytes, not ${bytes}`);
    },
  },
];
