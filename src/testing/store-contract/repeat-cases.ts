import type { Acceptance, NewCommand } from '../../sessions/session-store.ts';
import { found, same } from './expect.ts';
import { finished, later } from './finished-session.ts';
import {
  at,
  command,
  EXECUTION,
  fresh,
  type StoreHarness,
  type HarnessCase,
  root,
} from './store-harness.ts';

/** A message to remember. */
const message = (contentHash: string | null = 'hash-1', executionId = EXECUTION): NewCommand => ({
  ...command(),
  executionId,
  contentHash,
});

const send = (
  { store }: Pick<StoreHarness, 'store'>,
  sessionId: string,
  sent: NewCommand,
  phases: Parameters<StoreHarness['store']['accept']>[2]['phases'] = ['idle'],
): Promise<Acceptance | null> => store.accept(sessionId, sent, { phases });

/** Creates a session with a remembered message that a worker has started. */
async function begun(harness: StoreHarness): ReturnType<StoreHarness['take']> {
  const { id } = await harness.idle();
  await send(harness, id, message());
  const held = await harness.take(id);
  const { number: done } = found(await harness.store.nextCommand(id), 'the command');
  await held.commit({ root: root(), done });
  return held;
}

export const repeatCases: readonly HarnessCase[] = [
  {
    name: 'a message with a remembered execution id is not accepted again in any phase',
    async run(harness) {
      const { id } = await harness.idle();
      same(
        await send(harness, id, message()),
        { accepted: true, phase: 'idle' },
        'the first message under the id',
      );
      const row = await harness.row(id);
      for (const phases of [['idle'], ['idle', 'open']] as const) {
        same(
          await send(harness, id, message(), phases),
          { accepted: false, phase: 'open', repeat: 'waiting' },
          'the same message before its work begins',
        );
        same(
          await send(harness, id, message('hash-2'), phases),
          { accepted: false, phase: 'open', repeat: 'other' },
          'other content under the same id',
        );
      }
      same(await harness.row(id), row, 'the session that accepted one message');
      const held = await harness.take(id);
      const { number: done } = found(await harness.store.nextCommand(id), 'the command');
      await held.commit({ root: root(), done });
      same(
        await send(harness, id, message(), ['open']),
        { accepted: false, phase: 'open', repeat: 'begun' },
        'the same message while its work runs',
      );
      await held.commit({ root: root({ status: 'completed' }), end: 'ended' });
      same(
        await send(harness, id, message()),
        { accepted: false, phase: 'idle', repeat: 'begun' },
        'the same message after its work has ended',
      );
      same(
        await send(harness, id, message('hash-2')),
        { accepted: false, phase: 'idle', repeat: 'other' },
        'other content after the work has ended',
      );
      same(await harness.store.nextCommand(id), null, 'what is left to do');
      same(
        await send(harness, id, message('hash-1', 'exe-2')),
        { accepted: true, phase: 'idle' },
        'the same content under another id',
      );
    },
  },
  {
    name: 'an execution id with unknown content is never accepted again',
    async run(harness) {
      const { id } = await harness.idle();
      await send(harness, id, message(null));
      for (const hash of [null, 'hash-1'])
        same(
          await send(harness, id, message(hash), ['open']),
          { accepted: false, phase: 'open', repeat: 'other' },
          'a message under the id of an unknown one',
        );
      const held = await harness.held();
      await held.commit({ root: root({ executionId: 'exe-9' }) });
      same(
        await send(harness, held.id, message('hash-1', 'exe-9'), ['open']),
        { accepted: false, phase: 'open', repeat: 'other' },
        'a message under the id of the current execution, which no message has begun',
      );
    },
  },
  {
    name: 'D16: concurrent copies of a message are accepted once, and the others are reported as repeats',
    async run(harness) {
      const { id } = await harness.idle();
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => send(harness, id, message(), ['idle', 'open'])),
      );
      const said = answers.map((given) => given?.repeat ?? given?.accepted);
      same(said.filter((answer) => answer === true).length, 1, 'how many of six were accepted');
      same(said.filter((answer) => answer === 'waiting').length, 5, 'how many were repeats');
    },
  },
  {
    name: 'a repeat in the paused phase returns the first result, and a new message is refused',
    async run(harness) {
      const held = await begun(harness);
      await held.commit({ root: root({ status: 'paused' }), end: 'paused' });
      same(
        await send(harness, held.id, message()),
        { accepted: false, phase: 'paused', repeat: 'begun' },
        'a repeat while the session is paused',
      );
      same(
        await send(harness, held.id, message('hash-1', 'exe-2')),
        { accepted: false, phase: 'paused' },
        'a new message while the session is paused',
      );
      const refused = await send(harness, held.id, message('hash-3', 'exe-2'), ['paused']);
      same(refused, { accepted: true, phase: 'paused' }, 'an id that was refused before');
    },
  },
  {
    name: 'prune keeps the ids of executions, delete does not',
    async run(harness) {
      const { store } = harness;
      const { id, commit } = await begun(harness);
      await commit({ root: root(later), seq: 0 });
      await commit({ root: root({ status: 'completed', ...later }), end: 'ended', at: at(20) });
      await store.prune({ olderThan: at(1_000), owner: (await harness.row(id)).owner });
      same(
        (await send(harness, id, message()))?.repeat,
        'begun',
        'a repeat of an execution that was pruned',
      );
      same(
        (await send(harness, id, message('hash-2')))?.repeat,
        'other',
        'other content under its id',
      );
      await store.delete(id);
      same(await store.size(id), { rows: 0, bytes: 0 }, 'what is left of a deleted session');
      await harness.idle({ id });
      same(
        await send(harness, id, message('hash-2')),
        { accepted: true, phase: 'idle' },
        'a message to a new session under the id of a deleted one',
      );
    },
  },
  {
    name: 'a fork remembers only the executions of its steps',
    async run(harness) {
      const { store } = harness;
      const source = await finished(harness);
      const fork = { ...(await harness.row(source.id)), id: fresh('ses'), messageCount: 2 };
      await send(harness, source.id, message('hash-3', 'exe-3'));
      await store.fork(source.id, { ...fork, executionId: 'exe-own', stepCount: 2 });
      same(
        await send(harness, fork.id, message('hash-3', 'exe-3')),
        { accepted: true, phase: 'idle' },
        'a message of the source that the fork does not have',
      );
      const begunSource = await begun(harness);
      const second = fresh('ses');
      await begunSource.commit({
        steps: [{ agentId: '', position: 0, executionId: EXECUTION, body: '1', mark: '2' }],
        end: 'ended',
        root: root({ status: 'completed', stepCount: 1 }),
      });
      await store.fork(begunSource.id, { ...fork, id: second, executionId: 'own', stepCount: 1 });
      same(
        await send(harness, second, message()),
        { accepted: false, phase: 'idle', repeat: 'begun' },
        'a message whose steps the fork has',
      );
      same((await send(harness, begunSource.id, message()))?.repeat, 'begun', 'the source');
    },
  },
];
