import type { RowRange } from '../../sessions/session-store.ts';
import { holds, same } from './expect.ts';
import {
  at,
  call,
  event,
  EXECUTION,
  fresh,
  line,
  message,
  type HarnessCase,
  root,
  step,
} from './store-harness.ts';

const ranges: readonly (readonly [RowRange, readonly number[]])[] = [
  [{}, [0, 1, 2, 3, 4, 5]],
  [{ before: 3 }, [0, 1, 2]],
  [{ from: 4 }, [4, 5]],
  [{ from: 1, before: 4 }, [1, 2, 3]],
  [{ limit: 2 }, [4, 5]],
  [{ before: 4, limit: 2 }, [2, 3]],
  [{ from: 1, before: 5, limit: 2 }, [3, 4]],
  [{ limit: 100 }, [0, 1, 2, 3, 4, 5]],
  [{ limit: 0 }, []],
  [{ before: 0 }, []],
  [{ from: 6 }, []],
];

const positions = (rows: readonly { readonly position: number }[]): number[] =>
  rows.map(({ position }) => position);

const six = [0, 1, 2, 3, 4, 5];

const oddTexts: readonly string[] = [
  '',
  ' ',
  `'; DROP TABLE sessions; -- " \\ \` $1 ? %s`,
  'Grüße, 你好, 🇩🇪👩‍👩‍👧‍👦, \u202Eright to left, e\u0301',
  'line\nbreak\r\ntab\t\u2028\u2029\u0001\uFEFF',
  '{"nested":"{\\"a\\":\\"\\\\u0000\\"}"}',
];

export const readingCases: readonly HarnessCase[] = [
  {
    name: 'messages are read by range: the newest that match, in ascending order',
    async run({ store, held }) {
      const { id, commit } = await held();
      await commit({ messages: six.slice(0, 4).map((n) => message(n)) });
      await commit({ messages: six.slice(4).map((n) => message(n)) });
      for (const [range, expected] of ranges)
        same(positions(await store.messages(id, '', range)), expected, JSON.stringify(range));
    },
  },
  {
    name: 'messages are read by role, and the limit counts those of the role',
    async run({ store, held }) {
      const { id, commit } = await held();
      await commit({ messages: six.map((n) => message(n)) });
      const read = async (range: object): Promise<number[]> =>
        positions(await store.messages(id, '', { role: 'user', ...range }));
      same(await read({}), [0, 2, 4], 'all of the user');
      same(await read({ limit: 1 }), [4], 'the newest of the user');
      same(await read({ limit: 2, before: 4 }), [0, 2], 'those before another');
      same(await read({ role: 'tool' }), [], 'those of a role that has none');
    },
  },
  {
    name: 'messages and steps of each agent are separate',
    async run({ store, held }) {
      const { id, commit } = await held();
      const sub = { agentId: 'sub' };
      await commit({
        messages: [message(0), message(0, { ...sub, body: '"sub"' })],
        steps: [step(0), step(0, { ...sub, body: '"sub"' }), step(1, sub)],
      });
      same(await store.messages(id, ''), [message(0)], 'messages of the session');
      same(
        await store.messages(id, 'sub'),
        [message(0, { ...sub, body: '"sub"' })],
        'of the agent',
      );
      same(await store.steps(id, ''), [step(0)], 'steps of the session');
      same(positions(await store.steps(id, 'sub')), [0, 1], 'steps of the agent');
      same(await store.messages(id, 'none'), [], 'messages of no agent');
    },
  },
  {
    name: 'steps are read by range and by execution',
    async run({ store, held }) {
      const { id, commit } = await held();
      await commit({ steps: six.map((n) => step(n, n > 2 ? { executionId: 'exe-2' } : {})) });
      for (const [range, expected] of ranges)
        same(positions(await store.steps(id, '', range)), expected, JSON.stringify(range));
      const read = async (range: object): Promise<number[]> =>
        positions(await store.steps(id, '', { executionId: EXECUTION, ...range }));
      same(await read({}), [0, 1, 2], 'the first execution');
      same(await read({ limit: 2 }), [1, 2], 'its newest');
      same(await read({ executionId: 'exe-2', before: 5 }), [3, 4], 'the second execution');
    },
  },
  {
    name: 'agents are inserted or replaced, and read by execution',
    async run({ store, held }) {
      const { id, commit } = await held();
      const agent = (agentId: string, patch: object = {}): Parameters<typeof rows.push>[0] => ({
        agentId,
        executionId: EXECUTION,
        callId: `call-of-${agentId}`,
        head: '{"a":0}',
        messageCount: 0,
        stepCount: 0,
        ...patch,
      });
      const rows: Awaited<ReturnType<typeof store.agents>>[number][] = [];
      await commit({ agents: [agent('one'), agent('two', { executionId: 'exe-2' })] });
      const later = agent('one', { head: '{"a":1}', messageCount: 2, stepCount: 1 });
      await commit({ agents: [later, agent('three')] });
      rows.push(...(await store.agents(id, EXECUTION)));
      same(
        rows.toSorted((a, b) => (a.agentId < b.agentId ? -1 : 1)),
        [later, agent('three')],
        'the agents of the execution',
      );
      same(
        await store.agents(id, 'exe-2'),
        [agent('two', { executionId: 'exe-2' })],
        'those of another',
      );
    },
  },
  {
    name: 'events are read after a number, ascending, up to a limit, in one execution',
    async run({ store, held }) {
      const { id, commit } = await held();
      await commit({ events: [1, 2, 3].map((seq) => event(seq)), seq: 3 });
      await commit({ events: [4, 5].map((seq) => event(seq)), seq: 5 });
      await commit({ events: [event(1, { executionId: 'exe-2', body: '"other"' })], seq: 1 });
      const read = async (after: number, limit: number, execution = EXECUTION): Promise<number[]> =>
        (await store.events(id, execution, { after, limit })).map(({ seq }) => seq);
      same(await read(0, 100), [1, 2, 3, 4, 5], 'all events');
      same(await read(0, 2), [1, 2], 'the first two');
      same(await read(2, 2), [3, 4], 'the next two');
      same(await read(5, 2), [], 'those after the last');
      same(await read(0, 9, 'exe-2'), [1], 'those of the other execution');
      same(await read(0, 9, 'exe-3'), [], 'those of no execution');
    },
  },
  {
    name: 'D39: a large value is stored once in its scope, and an existing one stays',
    async run({ store, held }) {
      const { id, commit } = await held();
      const other = await held();
      const blob = { scope: '', hash: 'h1', body: '"first"' };
      await commit({ blobs: [blob, { ...blob, hash: 'h2', body: '"two"' }] });
      const { rows } = await store.size(id);
      await commit({ blobs: [{ ...blob, body: '"second"' }, blob] });
      same((await store.size(id)).rows, rows, 'how many rows there are');
      same(await store.blobs(id, ['h1']), [{ hash: 'h1', body: '"first"' }], 'the value');
      await commit({ blobs: [{ ...blob, scope: EXECUTION, body: '"first"' }] });
      same(await store.blobs(id, ['h1', 'h1']), [{ hash: 'h1', body: '"first"' }], 'in two scopes');
      const both = await store.blobs(id, ['h2', 'none', 'h1']);
      same(both.map(({ hash }) => hash).toSorted(), ['h1', 'h2'], 'the values that are there');
      same(await store.blobs(id, []), [], 'no values');
      same(await store.blobs(other.id, ['h1']), [], 'the values of another session');
    },
  },
  {
    name: 'unusual text is read back unchanged everywhere',
    async run({ store, idle, take, row }) {
      for (const odd of oddTexts) {
        const { id, owner } = await idle({
          owner: `${fresh('own')} ${odd}`,
          head: odd,
          agent: odd,
        });
        await store.accept(
          id,
          { kind: 'message', executionId: EXECUTION, body: odd, at: at(1) },
          { phases: ['idle'] },
        );
        same((await store.nextCommand(id))?.body, odd, 'a command');
        const { commit } = await take(id);
        await commit({
          root: root({ head: odd }),
          messages: [message(0, { body: odd, role: odd })],
          steps: [step(0, { body: odd, mark: odd })],
          agents: [
            {
              agentId: `sub ${odd}`,
              executionId: EXECUTION,
              callId: odd,
              head: odd,
              messageCount: 0,
              stepCount: 0,
            },
          ],
          calls: [call(`c ${odd}`, 'waiting', { tool: odd })],
          events: [event(1, { type: odd, body: odd })],
          blobs: [{ scope: '', hash: `h ${odd}`, body: odd }],
        });
        const answer = { executionId: EXECUTION, callId: `c ${odd}`, body: odd, at: at(9) };
        same(await store.decide(id, answer), 'accepted', 'an answer');
        await commit({ calls: [call(`c ${odd}`, 'committed', { result: odd })] });
        await store.request(id, { stop: odd });
        const found = await row(id);
        same([found.owner, found.head, found.agent], [owner, odd, odd], 'the session');
        same(found.stopReason, odd, 'a reason');
        same(
          await store.messages(id, '', { role: odd }),
          [message(0, { body: odd, role: odd })],
          'm',
        );
        same(await store.steps(id, ''), [step(0, { body: odd, mark: odd })], 'a step');
        same((await store.agents(id, EXECUTION))[0]?.head, odd, 'an agent');
        const { tool, answer: given, result } = await line(store, id, `c ${odd}`);
        same([tool, given, result], [odd, odd, odd], 'a call');
        const events = await store.events(id, EXECUTION, { after: 0, limit: 1 });
        same(events, [event(1, { type: odd, body: odd })], 'an event');
        same((await store.blobs(id, [`h ${odd}`]))[0]?.body, odd, 'a large value');
        same((await store.list({ owner, limit: 2 })).length, 1, 'the sessions of the owner');
      }
    },
  },
  {
    name: 'a text of a megabyte is read back byte for byte',
    async run({ store, held }) {
      const size = Math.min(1024 * 1024, store.maxBytes);
      const { id, commit } = await held();
      const large = `"${'äö\\n🙂 0123456789'.repeat(Math.ceil(size / 18))}`.slice(0, size / 2);
      await commit({
        messages: [message(0, { body: large })],
        calls: [call('a', 'committed', { result: large })],
        blobs: [{ scope: '', hash: 'h', body: large }],
      });
      holds((await store.messages(id, ''))[0]?.body === large, 'the message is the same');
      holds((await line(store, id, 'a')).result === large, 'the result is the same');
      holds((await store.blobs(id, ['h']))[0]?.body === large, 'the large value is the same');
    },
  },
  {
    name: 'an unknown session reads as empty',
    async run({ store }) {
      const id = fresh('ses');
      same(await store.messages(id, ''), [], 'messages');
      same(await store.steps(id, ''), [], 'steps');
      same(await store.agents(id, EXECUTION), [], 'agents');
      same(await store.calls(id, EXECUTION, { state: 'waiting' }), [], 'calls');
      same(await store.events(id, EXECUTION, { after: 0, limit: 9 }), [], 'events');
      same(await store.blobs(id, ['h']), [], 'large values');
      same(await store.size(id), { rows: 0, bytes: 0 }, 'size');
    },
  },
];
