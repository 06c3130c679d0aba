import type { Decision } from '../../sessions/session-store.ts';
import { found, same } from './expect.ts';
import {
  at,
  call,
  EXECUTION,
  fresh,
  type StoreHarness,
  type HarnessCase,
  root,
  step,
} from './store-harness.ts';

const answerTo = (executionId: string, ifUnambiguous: boolean) => (callId: string) => ({
  executionId,
  callId,
  body: '{"approve":true}',
  at: at(40),
  ...(ifUnambiguous && { ifUnambiguous }),
});

/** Stops the session, and lets another execution need approval of these calls. */
async function waitAgain(
  harness: StoreHarness,
  id: string,
  executionId: string,
  calls: readonly string[],
  kind: 'message' | 'resume' = 'message',
): Promise<void> {
  const { store } = harness;
  const content = kind === 'message' ? { contentHash: executionId } : {};
  await store.accept(
    id,
    { kind, executionId, body: '{}', at: at(30), ...content },
    { phases: ['idle'] },
  );
  const { commit } = await harness.take(id);
  await commit({
    root: root({ executionId, status: 'paused' }),
    calls: calls.map((callId) => call(callId, 'waiting', { executionId })),
    done: found(await store.nextCommand(id), 'the command').number,
    end: 'paused',
  });
}

async function stop(
  harness: StoreHarness,
  id: string,
  executionId: string,
  position: number,
  calls: readonly string[],
): Promise<void> {
  await harness.store.request(id, { stop: 'enough' });
  const { commit } = await harness.take(id);
  await commit({
    root: root({ executionId, status: 'stopped', stepCount: position + 1 }),
    steps: [step(position, { executionId })],
    calls: calls.map((callId) => call(callId, 'committed', { executionId, result: '{}' })),
    end: 'ended',
    at: at(50),
  });
}

/** Creates two executions with `a` pending, and one each with `b` and `c`; the second one is still pending. */
async function askedTwice(harness: StoreHarness): Promise<string> {
  const { id } = await harness.paused(['a', 'b']);
  await stop(harness, id, EXECUTION, 0, ['a', 'b']);
  await waitAgain(harness, id, 'exe-2', ['a', 'c']);
  return id;
}

export const waitCases: readonly HarnessCase[] = [
  {
    name: 'D91: an answer without an execution is ambiguous if a call of its id was pending in several',
    async run(harness) {
      const { store } = harness;
      const id = await askedTwice(harness);
      const before = await harness.row(id);
      const decide = (callId: string, executionId: string = 'exe-2'): Promise<Decision> =>
        store.decide(id, answerTo(executionId, true)(callId));
      same(await decide('a'), 'ambiguous', 'the answer to a');
      same(await harness.row(id), before, 'the session that took no answer');
      const waiting = await store.calls(id, 'exe-2', { state: 'waiting' });
      same(waiting.map(({ callId }) => callId).toSorted(), ['a', 'c'], 'the calls that wait');
      same(await decide('a', EXECUTION), 'over', 'an answer to the execution before');
      same(await decide('b'), 'unknown', 'an answer to a call of the execution before');
      same(await decide('c'), 'accepted', 'the answer to c, which waited once');
      same(
        await store.decide(id, answerTo('exe-2', false)('a')),
        'accepted',
        'a named answer to a',
      );
      same(await decide('a'), 'answered', 'a second answer to a');
    },
  },
  {
    name: 'D91: calls that were never pending, and those of other sessions, make no answer ambiguous',
    async run(harness) {
      const { store } = harness;
      await askedTwice(harness);
      const held = await harness.held();
      await held.commit({
        root: root({ status: 'completed' }),
        calls: [call('a', 'started'), call('a', 'committed', { result: '{}' })],
        done: found(await store.nextCommand(held.id), 'the command').number,
        end: 'ended',
      });
      await waitAgain(harness, held.id, 'exe-2', ['a']);
      const said = await store.decide(held.id, answerTo('exe-2', true)('a'));
      same(said, 'accepted', 'the answer to a call whose id had run before');
      await stop(harness, held.id, 'exe-2', 0, ['a', 'refused']);
      await waitAgain(harness, held.id, 'exe-3', ['refused']);
      const after = await store.decide(held.id, answerTo('exe-3', true)('refused'));
      same(after, 'accepted', 'the answer to a call whose id was refused before');
    },
  },
  {
    name: 'D91: a fork remembers which calls were pending in its executions',
    async run(harness) {
      const { store } = harness;
      const id = await askedTwice(harness);
      await stop(harness, id, 'exe-2', 1, ['a', 'c']);
      const { owner } = await harness.row(id);
      const fork = async (stepCount: number): Promise<string> => {
        const session = { ...copy, id: fresh('ses'), owner, stepCount, executionId: 'forked' };
        same(await store.fork(id, session), true, 'the fork');
        return session.id;
      };
      const whole = await fork(2);
      await waitAgain(harness, whole, 'exe-4', ['a', 'b', 'c', 'd']);
      const inWhole = answerTo('exe-4', true);
      for (const [callId, said] of [
        ['a', 'ambiguous'],
        ['b', 'ambiguous'],
        ['c', 'ambiguous'],
        ['d', 'accepted'],
      ] as const)
        same(await store.decide(whole, inWhole(callId)), said, `the answer to ${callId}`);
      // the forked execution asks again under its new id, and has nothing of later ones
      const first = await fork(1);
      await waitAgain(harness, first, 'forked', ['b', 'c'], 'resume');
      const inFirst = answerTo('forked', true);
      same(
        await store.decide(first, inFirst('b')),
        'accepted',
        'the answer to b at the first step',
      );
      same(
        await store.decide(first, inFirst('c')),
        'accepted',
        'the answer to c at the first step',
      );
    },
  },
  {
    name: 'D91: prune keeps which calls were pending, and delete does not',
    async run(harness) {
      const { store } = harness;
      const id = await askedTwice(harness);
      await stop(harness, id, 'exe-2', 1, ['a', 'c']);
      const { owner } = await harness.row(id);
      await store.prune({ olderThan: at(500), owner });
      await waitAgain(harness, id, 'exe-3', ['b', 'c', 'd']);
      const decide = (callId: string): Promise<Decision> =>
        store.decide(id, answerTo('exe-3', true)(callId));
      same(await decide('b'), 'ambiguous', 'the answer to b after prune');
      same(await decide('c'), 'ambiguous', 'the answer to c after prune');
      same(await decide('d'), 'accepted', 'the answer to d after prune');

      same(await store.delete(id), true, 'the deletion');
      same(await store.size(id), { rows: 0, bytes: 0 }, 'what is left');
      await harness.idle({ id, owner });
      await waitAgain(harness, id, 'exe-5', ['a']);
      const anew = await store.decide(id, answerTo('exe-5', true)('a'));
      same(anew, 'accepted', 'the answer to a in a new session of the same id');
    },
  },
];

const copy = {
  agent: 'support',
  status: 'stopped',
  head: '{"forked":1}',
  messageCount: 0,
  createdAt: at(200),
} as const;
