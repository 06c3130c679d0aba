import type { NewSessionRow, SessionStore } from '../../sessions/session-store.ts';
import { found, holds, refused, same } from './expect.ts';
import {
  at,
  call,
  command,
  event,
  EXECUTION,
  fresh,
  type Held,
  message,
  type Rig,
  type RigCase,
  root,
  step,
  untouched,
} from './rig.ts';

const later = { executionId: 'exe-2' };
const agent = { agentId: 'sub', executionId: EXECUTION, callId: 'a', head: '{}' };
const counts = { messageCount: 1, stepCount: 1 };

/** A finished session of two executions, with rows in every table. */
async function finished(rig: Rig, last = at(100)): Promise<Held> {
  const held = await rig.held();
  await held.commit({
    root: root({ messageCount: 2, stepCount: 2 }),
    seq: 1,
    messages: [message(0), message(1), message(0, { agentId: 'sub' })],
    steps: [step(0), step(1), step(0, { agentId: 'sub' })],
    agents: [{ ...agent, ...counts }],
    calls: [call('a', 'committed', { result: '{}' })],
    events: [event(1)],
    blobs: [
      { scope: '', hash: 'kept', body: '"kept"' },
      { scope: EXECUTION, hash: 'first', body: '"first"' },
      { scope: EXECUTION, hash: 'both', body: '"both"' },
    ],
  });
  await held.commit({
    root: root({ messageCount: 4, stepCount: 3, ...later }),
    seq: 1,
    messages: [message(2), message(3), message(0, { agentId: 'sub-2' })],
    steps: [step(2, later), step(0, { agentId: 'sub-2', ...later })],
    agents: [{ ...agent, ...later, agentId: 'sub-2', ...counts }],
    calls: [call('b', 'committed', { result: '{}', ...later })],
    events: [event(1, later)],
    blobs: [
      { scope: 'exe-2', hash: 'second', body: '"second"' },
      { scope: 'exe-2', hash: 'both', body: '"both"' },
    ],
  });
  const { number: done } = found(await rig.store.nextCommand(held.id), 'the command');
  await held.commit({
    root: root({ status: 'completed', messageCount: 4, stepCount: 3, ...later }),
    done,
    end: 'ended',
    at: last,
  });
  return held;
}

const copy = (patch: Partial<NewSessionRow> = {}): NewSessionRow => ({
  id: fresh('ses'),
  owner: fresh('own'),
  agent: 'support',
  status: 'stopped',
  executionId: EXECUTION,
  head: '{"forked":1}',
  messageCount: 3,
  stepCount: 2,
  createdAt: at(200),
  ...patch,
});

/** What a next turn can see of the conversation. */
const conversation = async (store: SessionStore, id: string): Promise<object> => ({
  messages: await store.messages(id, ''),
  blobs: await store.blobs(id, ['kept']),
});

export const keepingCases: readonly RigCase[] = [
  {
    name: 'fork copies messages and steps below the counts, and large values, into a new idle session',
    async run(rig) {
      const { store, row } = rig;
      const source = await finished(rig);
      const before = await row(source.id);
      const session = copy();
      same(await store.fork(source.id, session), true, 'the fork');
      same(await row(session.id), untouched(session), 'the forked session');
      same(
        await store.messages(session.id, ''),
        [0, 1, 2].map((n) => message(n)),
        'its messages',
      );
      same(await store.steps(session.id, ''), [step(0), step(1)], 'its steps');
      const blobs = await store.blobs(session.id, ['kept', 'first', 'both']);
      same(blobs.length, 3, 'how many of three large values it has');
      for (const executionId of [EXECUTION, 'exe-2']) {
        same(await store.calls(session.id, executionId, { callIds: ['a', 'b'] }), [], 'its calls');
        same(await store.events(session.id, executionId, { after: 0, limit: 9 }), [], 'its events');
        same(await store.agents(session.id, executionId), [], 'its agents');
      }
      same(await store.messages(session.id, 'sub'), [], 'the messages of its agents');
      same(await store.nextCommand(session.id), null, 'its commands');
      same(await row(source.id), before, 'the source');
    },
  },
  {
    name: 'fork says false for a taken id and for an unknown source, and copies nothing',
    async run(rig) {
      const { store } = rig;
      const source = await finished(rig);
      const taken = await rig.idle();
      const before = [await rig.row(taken.id), await store.size(taken.id)];
      same(await store.fork(source.id, copy({ id: taken.id })), false, 'a fork to a taken id');
      same(await store.fork(source.id, copy({ id: source.id })), false, 'a fork to itself');
      same([await rig.row(taken.id), await store.size(taken.id)], before, 'the session there');
      const session = copy();
      same(await store.fork(fresh('ses'), session), false, 'a fork of no session');
      same(await store.find(session.id), null, 'the session not made');
    },
  },
  {
    name: 'a fork and its source are independent: writes and deletion of one do not show in the other',
    async run(rig) {
      const { store } = rig;
      const source = await finished(rig);
      const [session, second] = [copy(), copy({ messageCount: 0, stepCount: 0 })];
      await store.fork(source.id, session);
      await store.fork(source.id, second);
      same(await store.messages(second.id, ''), [], 'the messages of a fork at the beginning');
      const before = await conversation(store, source.id);
      await store.accept(session.id, command(), { phases: ['idle'] });
      const held = await rig.take(session.id);
      await held.commit({ messages: [message(3, { body: '"fork"' })], steps: [step(2, later)] });
      same(await conversation(store, source.id), before, 'the source');
      const forked = await conversation(store, session.id);
      same(await store.delete(source.id), true, 'the deletion of the source');
      same(await conversation(store, session.id), forked, 'the fork without its source');
      same((await store.steps(session.id, '')).length, 3, 'how many steps the fork has');
      await held.commit({ messages: [message(4)] });
    },
  },
  {
    name: 'D41: prune drops events and earlier executions, and keeps what a next turn needs',
    async run(rig) {
      const { store } = rig;
      const { id } = await finished(rig);
      const { owner, ...before } = await rig.row(id);
      const kept = await conversation(store, id);
      const size = await store.size(id);
      const pruned = await store.prune({ olderThan: at(500), owner });
      const after = await store.size(id);
      same(pruned, { sessions: 1, rows: size.rows - after.rows }, 'what prune says');
      holds(after.bytes < size.bytes, 'the session is smaller');
      same(await rig.row(id), { owner, ...before }, 'the session');
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
    name: 'D41: a pruned session goes on',
    async run(rig) {
      const { store } = rig;
      const { id } = await finished(rig);
      await store.prune({ olderThan: at(500), owner: (await rig.row(id)).owner });
      await store.accept(id, command(), { phases: ['idle'] });
      const held = await rig.take(id);
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
    name: 'D41: prune does not touch sessions that somebody works on, that wait for people, or that changed since',
    async run(rig) {
      const { store } = rig;
      const open = await finished(rig);
      await store.accept(open.id, command(), { phases: ['idle'] });
      const held = await finished(rig);
      await store.accept(held.id, command(), { phases: ['idle'] });
      await rig.take(held.id);
      const paused = await finished(rig);
      await store.accept(paused.id, command(), { phases: ['idle'] });
      const { commit } = await rig.take(paused.id);
      await commit({ root: root({ status: 'paused', ...later }), end: 'paused', at: at(100) });
      const recent = await finished(rig, at(501));
      const foreign = await finished(rig);
      for (const { id } of [open, held, paused, recent]) {
        const before = await store.size(id);
        const { owner } = await rig.row(id);
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
    name: 'D44: delete leaves no row behind, and later commits are stale',
    async run(rig) {
      const { store } = rig;
      const bystander = await finished(rig);
      const before = await store.size(bystander.id);
      const { id } = await finished(rig);
      await store.accept(id, command(), { phases: ['idle'] });
      await store.accept(id, command(), { phases: ['open'] });
      const held = await rig.take(id);
      const { owner } = await rig.row(id);
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
  {
    name: 'size counts the rows of a session, and the bytes of their texts',
    async run({ store, held }) {
      const { id, commit } = await held();
      const start = await store.size(id);
      same(start.rows, 2, 'the rows of a session and its command');
      const grown = async (parts: Parameters<Held['commit']>[0]): Promise<[number, number]> => {
        const before = await store.size(id);
        await commit(parts);
        const after = await store.size(id);
        return [after.rows - before.rows, after.bytes - before.bytes];
      };
      const body = 'ü'.repeat(5000);
      const [rows, bytes] = await grown({
        messages: [message(0, { body }), message(1, { body })],
        steps: [step(0, { body, mark: body })],
        agents: [{ ...agent, head: body, ...counts }],
        calls: [call('a', 'committed', { result: body })],
        events: [event(1, { body })],
        blobs: [{ scope: '', hash: 'h', body }],
      });
      same(rows, 7, 'how many rows it grew');
      const least = 8 * 10_000;
      holds(bytes >= least && bytes < least + 2000, `it grew about ${least} bytes, not ${bytes}`);
      const { number: done } = found(await store.nextCommand(id), 'the command');
      same((await grown({ done }))[0], -1, 'how many rows it grew when the command went');
    },
  },
  {
    name: 'D38: what a commit adds does not depend on how many there were',
    async run({ store, held }) {
      const { id, commit } = await held();
      const added: number[] = [];
      for (let n = 0; n < 30; n++) {
        const before = await store.size(id);
        await commit({
          root: root({ messageCount: 10 + n, stepCount: 10 + n }),
          seq: 10 + n,
          messages: [message(10 + n)],
          steps: [step(10 + n)],
          events: [event(10 + n)],
        });
        added.push((await store.size(id)).bytes - before.bytes);
      }
      same(new Set(added.slice(1)).size, 1, 'how many different sizes equal commits have');
    },
  },
];
