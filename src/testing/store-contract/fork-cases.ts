import type { NewSessionRow } from '../../sessions/session-rows.ts';
import { same } from './expect.ts';
import { conversation, finished, later } from './finished-session.ts';
import {
  at,
  command,
  EXECUTION,
  fresh,
  message,
  type HarnessCase,
  step,
  untouched,
} from './store-harness.ts';

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

export const forkCases: readonly HarnessCase[] = [
  {
    name: 'fork copies messages and steps below the counts, and large values, into a new idle session',
    async run(harness) {
      const { store, row } = harness;
      const source = await finished(harness);
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
    name: 'fork returns false for a used id and for an unknown source, and copies nothing',
    async run(harness) {
      const { store } = harness;
      const source = await finished(harness);
      const taken = await harness.idle();
      const before = [await harness.row(taken.id), await store.size(taken.id)];
      same(await store.fork(source.id, copy({ id: taken.id })), false, 'a fork to a taken id');
      same(await store.fork(source.id, copy({ id: source.id })), false, 'a fork to itself');
      same([await harness.row(taken.id), await store.size(taken.id)], before, 'the session there');
      const session = copy();
      same(await store.fork(fresh('ses'), session), false, 'a fork of no session');
      same(await store.find(session.id), null, 'the session not made');
    },
  },
  {
    name: 'a fork and its source are independent: writes and deletion of one do not affect the other',
    async run(harness) {
      const { store } = harness;
      const source = await finished(harness);
      const [session, second] = [copy(), copy({ messageCount: 0, stepCount: 0 })];
      await store.fork(source.id, session);
      await store.fork(source.id, second);
      same(await store.messages(second.id, ''), [], 'the messages of a fork at the beginning');
      const before = await conversation(store, source.id);
      await store.accept(session.id, command(), { phases: ['idle'] });
      const held = await harness.take(session.id);
      await held.commit({ messages: [message(3, { body: '"fork"' })], steps: [step(2, later)] });
      same(await conversation(store, source.id), before, 'the source');
      const forked = await conversation(store, session.id);
      same(await store.delete(source.id), true, 'the deletion of the source');
      same(await conversation(store, session.id), forked, 'the fork without its source');
      same((await store.steps(session.id, '')).length, 3, 'how many steps the fork has');
      await held.commit({ messages: [message(4)] });
    },
  },
];
