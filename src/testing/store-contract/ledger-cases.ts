import { refused, same } from './expect.ts';
import {
  at,
  call,
  event,
  EXECUTION,
  line,
  message,
  type StoreHarness,
  type HarnessCase,
  root,
} from './store-harness.ts';

/** The call and the row of its session, to check that a refusal changed neither. */
const seen = async ({ store, row }: StoreHarness, id: string): Promise<object> => [
  await line(store, id, 'a'),
  await row(id),
  await store.size(id),
];

export const ledgerCases: readonly HarnessCase[] = [
  {
    name: 'D24: a call is started, then committed with its result, which stays',
    async run({ store, held }) {
      const { id, token, commit } = await held();
      await commit({ calls: [call('a', 'started')] });
      await commit({ calls: [call('a', 'committed', { result: '{"sent":1}' })] });
      const expected = {
        executionId: EXECUTION,
        callId: 'a',
        tool: 'send_mail',
        state: 'committed',
        token,
        starts: 1,
        answer: null,
        result: '{"sent":1}',
      };
      same(await line(store, id, 'a'), expected, 'the committed call');
      await commit({ calls: [call('a', 'committed', { result: '{"sent":2}' })] });
      same(await line(store, id, 'a'), expected, 'the call committed again');
    },
  },
  {
    name: 'D24: a start that may not be repeated is a conflict, and nothing of its commit is written',
    async run(harness) {
      const { id, commit } = await harness.held();
      await commit({ calls: [call('a', 'started')] });
      const started = await seen(harness, id);
      const parts = {
        seq: 1,
        messages: [message(0)],
        events: [event(1)],
        calls: [call('b', 'started'), call('a', 'started')],
      };
      await refused(commit(parts), 'conflict', 'a second start');
      same(await seen(harness, id), started, 'the session after a refused start');
      await commit({ calls: [call('a', 'committed', { result: '{}' })] });
      const committed = await seen(harness, id);
      await refused(commit(parts), 'conflict', 'a start after the result');
      await refused(
        commit({ ...parts, calls: [call('a', 'started', { again: true })] }),
        'conflict',
        'a start after the result, which was seen, so that there is nothing to do again',
      );
      same(await seen(harness, id), committed, 'the session after refused starts');
      await commit({ messages: [message(0)], calls: [call('b', 'started')] });
    },
  },
  {
    name: 'D24: a start by another worker is refused unless the call may start again',
    async run({ store, held, take }) {
      const old = await held();
      await old.commit({ calls: [call('a', 'started'), call('b', 'started')] });
      await old.commit({ end: 'handover' });
      const heir = await take(old.id);
      await refused(heir.commit({ calls: [call('a', 'started')] }), 'conflict', 'a second start');
      await heir.commit({ calls: [call('b', 'started', { again: true })] });
      const a = await line(store, old.id, 'a');
      const b = await line(store, old.id, 'b');
      same([a.starts, a.token], [1, old.token], 'starts and token of the first call');
      same([b.starts, b.token, b.state], [2, heir.token, 'started'], 'those of the second');
    },
  },
  {
    name: 'a result may be committed without a start',
    async run({ store, held }) {
      const { id, commit } = await held();
      await commit({ calls: [call('a', 'committed', { result: '"denied"' })] });
      const { state, starts, token, result } = await line(store, id, 'a');
      same([state, starts, token, result], ['committed', 0, 0, '"denied"'], 'the call');
    },
  },
  {
    name: 'waiting does not change an existing call',
    async run({ store, held }) {
      const { id, commit } = await held();
      await commit({
        root: root(),
        calls: ['a', 'b', 'c'].map((callId) => call(callId, 'waiting')),
      });
      const answer = { executionId: EXECUTION, body: '{"ok":1}', at: at(9) };
      for (const callId of ['a', 'b']) await store.decide(id, { ...answer, callId });
      await commit({ calls: [call('b', 'started'), call('d', 'started')] });
      await commit({ calls: [call('d', 'committed', { result: '{}' })] });
      const ids = ['a', 'b', 'c', 'd'];
      const before = await Promise.all(ids.map((callId) => line(store, id, callId)));
      same(
        before.map(({ state }) => state),
        ['decided', 'started', 'waiting', 'committed'],
        'the states',
      );
      await commit({ calls: ids.map((callId) => call(callId, 'waiting', { tool: 'other' })) });
      same(await Promise.all(ids.map((callId) => line(store, id, callId))), before, 'the calls');
    },
  },
  {
    name: 'D29: an answer stays with its call through start and result',
    async run({ store, paused, take }) {
      const { id } = await paused(['a']);
      const answer = { executionId: EXECUTION, callId: 'a', body: '{"ok":1}', at: at(9) };
      await store.decide(id, answer);
      const { commit } = await take(id);
      await commit({ calls: [call('a', 'started')] });
      same((await line(store, id, 'a')).answer, '{"ok":1}', 'the answer of the started call');
      await commit({ calls: [call('a', 'committed', { result: '{}' })] });
      same((await line(store, id, 'a')).answer, '{"ok":1}', 'the answer of the committed call');
    },
  },
  {
    name: 'calls are read by id or by state, in one execution',
    async run({ store, held }) {
      const { id, commit } = await held();
      await commit({
        calls: [
          call('a', 'waiting'),
          call('b', 'waiting'),
          call('c', 'started'),
          call('a', 'started', { executionId: 'exe-2' }),
        ],
      });
      const read = async (
        executionId: string,
        filter: Parameters<typeof store.calls>[2],
      ): Promise<string[]> =>
        (await store.calls(id, executionId, filter)).map(({ callId }) => callId).toSorted();
      same(await read(EXECUTION, { state: 'waiting' }), ['a', 'b'], 'the waiting calls');
      same(await read(EXECUTION, { state: 'started' }), ['c'], 'the started calls');
      same(await read(EXECUTION, { state: 'committed' }), [], 'the committed calls');
      same(await read('exe-2', { state: 'started' }), ['a'], 'those of another execution');
      same(await read(EXECUTION, { callIds: ['c', 'a', 'x'] }), ['a', 'c'], 'calls by id');
      same(await read(EXECUTION, { callIds: [] }), [], 'calls by no id');
      same(await read('exe-2', { callIds: ['a', 'b'] }), ['a'], 'by id in another execution');
    },
  },
];
