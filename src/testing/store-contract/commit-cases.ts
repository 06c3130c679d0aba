import { found, refused, same } from './expect.ts';
import {
  at,
  call,
  event,
  EXECUTION,
  fresh,
  line,
  LONG_MS,
  message,
  type StoreHarness,
  type HarnessCase,
  root,
  step,
} from './store-harness.ts';

/** Everything that one commit can contain. */
const full = {
  root: root({ head: '{"n":2}', messageCount: 2, stepCount: 1 }),
  seq: 2,
  messages: [message(0), message(1)],
  steps: [step(0)],
  agents: [
    {
      agentId: 'sub',
      executionId: EXECUTION,
      callId: 'a',
      head: '{"sub":1}',
      messageCount: 1,
      stepCount: 0,
    },
  ],
  calls: [call('a', 'started'), call('b', 'waiting')],
  events: [event(1), event(2)],
  blobs: [{ scope: '', hash: 'h1', body: '"large"' }],
};

/** Everything that can be read of a session. */
const everything = async ({ store }: StoreHarness, id: string) => ({
  row: await store.find(id),
  command: await store.nextCommand(id),
  messages: [await store.messages(id, ''), await store.messages(id, 'sub')],
  steps: await store.steps(id, ''),
  agents: await store.agents(id, EXECUTION),
  calls: await store.calls(id, EXECUTION, { callIds: ['a', 'b', 'c'] }),
  events: await store.events(id, EXECUTION, { after: 0, limit: 100 }),
  blobs: await store.blobs(id, ['h1', 'h2']),
  size: await store.size(id),
});

const none = { stopReason: null, pauseReason: null };

export const commitCases: readonly HarnessCase[] = [
  {
    name: 'commit writes everything, and the reads return it',
    async run({ store, held, row }) {
      const { id, token, commit } = await held();
      const before = await row(id);
      const receipt = await commit({ ...full, at: at(60), blobs: full.blobs });
      same(receipt, { phase: 'open', ...none }, 'the receipt');
      same(
        await row(id),
        { ...before, ...full.root, seq: 2, revision: 1, tries: 0, updatedAt: at(60) },
        'the session',
      );
      same(await store.messages(id, ''), full.messages, 'the messages');
      same(await store.steps(id, ''), full.steps, 'the steps');
      same(await store.agents(id, EXECUTION), full.agents, 'the agents');
      same(await store.events(id, EXECUTION, { after: 0, limit: 9 }), full.events, 'the events');
      same(await store.blobs(id, ['h1']), [{ hash: 'h1', body: '"large"' }], 'the large values');
      const blank = { executionId: EXECUTION, tool: 'send_mail', answer: null, result: null };
      same(
        await line(store, id, 'a'),
        { ...blank, callId: 'a', state: 'started', token, starts: 1 },
        'the started call',
      );
      same(
        await line(store, id, 'b'),
        { ...blank, callId: 'b', state: 'waiting', token: 0, starts: 0 },
        'the waiting call',
      );
    },
  },
  {
    name: 'a commit does not change what it does not contain',
    async run(harness) {
      const held = await harness.held();
      await held.commit(full);
      const { row: before, ...kept } = await everything(harness, held.id);
      await held.commit({ at: at(70) });
      const { row, ...left } = await everything(harness, held.id);
      same(left, kept, 'what an empty commit leaves');
      same(row, { ...before, revision: 2, updatedAt: at(70) }, 'the session');
      await held.commit({ root: root({ executionId: 'exe-2' }), seq: 0 });
      same((await harness.row(held.id)).seq, 0, 'the sequence number in a new execution');
    },
  },
  {
    name: 'a repeated commit is written once',
    async run(harness) {
      const held = await harness.held();
      const first = held.next({ ...full, at: at(60) });
      const receipt = await held.commit({ ...full, at: at(60) });
      const before = await everything(harness, held.id);
      same(await harness.store.commit(first), receipt, 'the second receipt');
      same(await everything(harness, held.id), before, 'the session after the second');
      const { number: done } = found(await harness.store.nextCommand(held.id), 'the command');
      const last = held.next({ done, end: 'ended' });
      await held.commit({ done, end: 'ended' });
      const ended = await everything(harness, held.id);
      same(await harness.store.commit(last), { phase: 'idle', ...none }, 'the receipt of the end');
      same(await everything(harness, held.id), ended, 'the session after the second end');
    },
  },
  {
    name: 'two concurrent copies of a commit are written once',
    async run(harness) {
      const held = await harness.held();
      const commit = held.next(full);
      await Promise.all([harness.store.commit(commit), harness.store.commit(commit)]);
      same((await harness.row(held.id)).revision, 1, 'the revision');
      same((await line(harness.store, held.id, 'a')).starts, 1, 'how often the call was started');
      same(
        (await harness.store.events(held.id, EXECUTION, { after: 0, limit: 9 })).length,
        2,
        'events',
      );
    },
  },
  {
    name: 'D16, D18: a stale token is refused, and nothing of its commit is written',
    async run(harness) {
      const old = await harness.held();
      await old.commit({ end: 'handover' });
      const heir = await harness.take(old.id);
      const before = await everything(harness, old.id);
      const { revision } = await harness.row(old.id);
      for (const parts of [
        full,
        { messages: full.messages },
        { calls: [call('a', 'started')] },
        { events: full.events, seq: 2 },
        { end: 'ended' } as const,
      ])
        await refused(old.commit({ ...parts, revision }), 'stale_owner', 'a stale commit');
      await refused(
        old.commit({ ...full, token: heir.token + 1, revision }),
        'stale_owner',
        'a token that was never given',
      );
      same(await everything(harness, old.id), before, 'the session after stale commits');
      await heir.commit(full);
    },
  },
  {
    name: 'a commit to an unknown session is refused as stale',
    async run({ store }) {
      const commit = { sessionId: fresh('ses'), token: 1, revision: 0, at: at(1), ...full };
      await refused(store.commit(commit), 'stale_owner', 'a commit to no session');
    },
  },
  {
    name: 'a commit that skips a revision is refused, and nothing of it is written',
    async run(harness) {
      const held = await harness.held();
      const before = await everything(harness, held.id);
      await refused(
        held.commit({ ...full, revision: 1 }),
        ['conflict', 'stale_owner'],
        'a commit two ahead',
      );
      same(await everything(harness, held.id), before, 'the session');
    },
  },
  {
    name: 'concurrent commits of many sessions are independent, also if one is refused',
    async run({ store, held, row }) {
      const helds = await Promise.all(Array.from({ length: 20 }, () => held()));
      const stale = await held();
      await stale.commit({ end: 'handover' });
      await store.claim(stale.id, { worker: fresh('wrk'), ttlMs: LONG_MS });
      const commits = helds.map(({ id, commit }, i) => {
        const write = commit({ messages: [message(0, { body: `"${id}"` })] });
        return i === 10
          ? [refused(stale.commit(full), 'stale_owner', 'the stale one'), write]
          : write;
      });
      await Promise.all(commits.flat());
      for (const { id } of helds) {
        same(
          (await store.messages(id, '')).map(({ body }) => body),
          [`"${id}"`],
          'its message',
        );
        same((await row(id)).revision, 1, 'its revision');
      }
      same(await store.messages(stale.id, ''), [], 'the messages of the stale one');
    },
  },
];
