import { holds, refused, same } from './expect.ts';
import { conversation, busyAndPaused, finished, later } from './finished-session.ts';
import {
  at,
  call,
  command,
  event,
  EXECUTION,
  fresh,
  message,
  type HarnessCase,
  root,
  step,
} from './store-harness.ts';

/** Pruning and deleting. */
export const droppingCases: readonly HarnessCase[] = [
  {
    name: 'D41: prune deletes events and earlier executions, and keeps what the next turn needs',
    async run(harness) {
      const { store } = harness;
      const { id } = await finished(harness);
      const { owner, ...before } = await harness.row(id);
      const kept = await conversation(store, id);
      const size = await store.size(id);
      const pruned = await store.prune({ olderThan: at(500), owner });
      const after = await store.size(id);
      same(pruned, { sessions: 1, rows: size.rows - after.rows }, 'what prune says');
      holds(after.bytes < size.bytes, 'the session is smaller');
      same(await harness.row(id), { owner, ...before }, 'the session');
      same(await conversation(store, id), kept, 'the conversation');
      same(await store.steps(id, ''), [step(2, later)], 'the steps of the last execution');
      same((await store.steps(id, 'sub')).length, 0, 'steps of an agent in an earlier one');
      same((await store.steps(id, 'sub-2')).length, 1, 'steps of an agent in the last one');
      same((await store.agents(id, EXECUTION)).length, 0, 'agents of an earlier execution');
      same((await store.agents(id, 'exe-2')).length, 1, 'agents of the last execution');
      same((await store.messages(id, 'sub-2')).length, 1, 'messages of an agent in the last one');
      same((await store.calls(id, EXECUTION, { callIds: ['a'] })).length, 0, 'earlier calls');
      same((await store.calls(id, 'exe-2', { callIds: ['b'] })).length, 1, 'calls of the last one');
      for (const executionId of [EXECUTION, 'exe-2'])
        same(await store.events(id, executionId, { after: 0, limit: 9 }), [], 'events');
      const hashes = (await store.blobs(id, ['kept', 'first', 'second', 'both'])).map(
        ({ hash }) => hash,
      );
      same(hashes.toSorted(), ['both', 'kept', 'second'], 'the large values that are kept');
      const again = await store.prune({ olderThan: at(500), owner });
      same(again.rows, 0, 'how many rows a second prune drops');
    },
  },
  {
    name: 'D41: a pruned session continues',
    async run(harness) {
      const { store } = harness;
      const { id } = await finished(harness);
      await store.prune({ olderThan: at(500), owner: (await harness.row(id)).owner });
      await store.accept(id, command(), { phases: ['idle'] });
      const held = await harness.take(id);
      const executionId = 'exe-3';
      await held.commit({
        root: root({ executionId, messageCount: 5, stepCount: 4 }),
        seq: 1,
        messages: [message(4)],
        steps: [step(3, { executionId })],
        calls: [call('c', 'started', { executionId })],
        events: [event(1, { executionId })],
      });
      const messages = await store.messages(id, '');
      same(
        messages,
        [0, 1, 2, 3, 4].map((n) => message(n)),
        'the conversation',
      );
      const positions = (await store.steps(id, '')).map(({ position }) => position);
      same(positions, [2, 3], 'the steps');
    },
  },
  {
    name: 'D41: prune does not change sessions that are busy, need approval, or changed since',
    async run(harness) {
      const { store } = harness;
      const { open, held, paused } = await busyAndPaused(harness);
      const recent = await finished(harness, at(501));
      const foreign = await finished(harness);
      for (const { id } of [open, held, paused, recent]) {
        const before = await store.size(id);
        const { owner } = await harness.row(id);
        const pruned = await store.prune({ olderThan: at(500), owner });
        same(pruned, { sessions: 0, rows: 0 }, 'what prune says');
        same(await store.size(id), before, 'the size');
      }
      const before = await store.size(foreign.id);
      await store.prune({ olderThan: at(500), owner: fresh('own') });
      same(await store.size(foreign.id), before, 'the size of another owner’s session');
    },
  },
  {
    name: 'D44: delete leaves no row, and later commits are stale',
    async run(harness) {
      const { store } = harness;
      const bystander = await finished(harness);
      const before = await store.size(bystander.id);
      const { id } = await finished(harness);
      await store.accept(id, command(), { phases: ['idle'] });
      await store.accept(id, command(), { phases: ['open'] });
      const held = await harness.take(id);
      const { owner } = await harness.row(id);
      same(await store.delete(id), true, 'the deletion');
      same(await store.size(id), { rows: 0, bytes: 0 }, 'what is left');
      same(await store.find(id), null, 'the session');
      same(await store.list({ owner, limit: 5 }), [], 'the sessions of its owner');
      same(await store.nextCommand(id), null, 'its command');
      same(await store.messages(id, ''), [], 'its messages');
      same(await store.blobs(id, ['kept']), [], 'its large values');
      same(await store.signals(held.worker), [], 'the leases of its worker');
      const write = { messages: [message(4)], calls: [call('z', 'started')], events: [event(9)] };
      await refused(held.commit(write), 'stale_owner', 'a later commit');
      same(await store.size(id), { rows: 0, bytes: 0 }, 'what is there after it');
      same(await store.delete(id), false, 'a second deletion');
      same(await store.size(bystander.id), before, 'the size of another session');
    },
  },
  {
    name: 'D16: a worker of a deleted session cannot write to a new one of the same id',
    async run({ store, idle, held, take }) {
      const old = await held();
      await store.delete(old.id);
      await idle({ id: old.id });
      await refused(
        old.commit({ messages: [message(0)] }),
        'stale_owner',
        'a write to the idle one',
      );
      await store.accept(old.id, command(), { phases: ['idle'] });
      const heir = await take(old.id);
      await refused(
        old.commit({ messages: [message(0)] }),
        'stale_owner',
        'a write to the held one',
      );
      await heir.commit({ messages: [message(0, { body: '"heir"' })] });
    },
  },
];
