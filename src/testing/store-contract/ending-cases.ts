import type { SessionPhase } from '../../sessions/session-rows.ts';
import { found, same } from './expect.ts';
import {
  at,
  call,
  command,
  EXECUTION,
  type Held,
  message,
  recoverable,
  type StoreHarness,
  type HarnessCase,
  root,
} from './store-harness.ts';

/** Creates a leased session whose command is carried out, so that nothing is left to do. */
async function emptied(harness: StoreHarness): Promise<Held> {
  const held = await harness.held();
  const { number: done } = found(await harness.store.nextCommand(held.id), 'the command');
  await held.commit({ root: root(), done });
  return held;
}

const none = { stopReason: null, pauseReason: null };

/** The phase that a commit sets, and what a commit at the end of the work leaves. */
export const endingCases: readonly HarnessCase[] = [
  {
    name: 'the receipt contains requests that arrived in the meantime',
    async run(harness) {
      const { id, commit } = await harness.held();
      await harness.store.request(id, { pause: 'lunch' });
      same(await commit({}), { phase: 'open', ...none, pauseReason: 'lunch' }, 'after a pause');
      await harness.store.request(id, { stop: 'enough' });
      const both = { phase: 'open', pauseReason: 'lunch', stopReason: 'enough' };
      same(await commit({ root: root() }), both, 'after a stop');
    },
  },
  ...(
    [
      ['ended', {}, 'idle', none, 'nothing more to do'],
      ['ended', { stop: 's' }, 'idle', none, 'a stop, which it answers'],
      ['ended', { pause: 'p' }, 'idle', none, 'a pause, which no longer applies'],
      ['ended', { command: true }, 'open', none, 'a further command'],
      ['ended', { command: true, stop: 's' }, 'open', none, 'a stop and a further command'],
      ['ended', { decided: true }, 'idle', none, 'an answer that is too late'],
      ['paused', {}, 'paused', none, 'nothing more to do'],
      ['paused', { pause: 'p' }, 'paused', none, 'a pause, which it answers'],
      ['paused', { stop: 's' }, 'open', { ...none, stopReason: 's' }, 'a stop, which it does not'],
      ['paused', { decided: true }, 'open', none, 'an answer in the meantime'],
      ['paused', { decided: true, pause: 'p' }, 'open', none, 'an answer and a pause'],
      ['paused', { decidedBefore: true }, 'paused', none, 'an answer in an earlier execution'],
      ['paused', { command: true }, 'paused', none, 'a command, which waits too'],
      ['handover', {}, 'open', none, 'work left'],
      [
        'handover',
        { stop: 's', pause: 'p' },
        'open',
        { stopReason: 's', pauseReason: 'p' },
        'requests',
      ],
    ] as const
  ).map(([end, given, phase, requests, why]): HarnessCase => ({
    name: `${end} with ${why}: the phase is ${phase}`,
    run: (harness) => runEnd(harness, end, given, phase, requests),
  })),
];

interface Given {
  readonly stop?: string;
  readonly pause?: string;
  readonly command?: boolean;
  readonly decided?: boolean;
  readonly decidedBefore?: boolean;
}

async function runEnd(
  harness: StoreHarness,
  end: 'ended' | 'paused' | 'handover',
  given: Given,
  phase: SessionPhase,
  requests: typeof none | { stopReason: string | null; pauseReason: string | null },
): Promise<void> {
  const { store } = harness;
  const held = await emptied(harness);
  const { id, commit, worker } = held;
  if (given.decided || given.decidedBefore) {
    await commit({ calls: [call('a', 'waiting'), call('b', 'waiting')] });
    const answer = { executionId: EXECUTION, callId: 'a', body: '{}', at: at(20) };
    same(await store.decide(id, answer), 'accepted', 'the answer');
  }
  if (given.pause !== undefined) await store.request(id, { pause: given.pause });
  if (given.stop !== undefined) await store.request(id, { stop: given.stop });
  if (given.command) await store.accept(id, command('{"n":2}'), { phases: ['open'] });
  const executionId = given.decidedBefore ? 'exe-2' : EXECUTION;
  const receipt = await commit({ root: root({ status: 'stopped', executionId }), end });
  same(receipt, { phase, ...requests }, 'the receipt');
  const row = await harness.row(id);
  const isKept = phase === 'open' && end !== 'handover';
  same(
    { phase: row.phase, status: row.status, worker: row.worker, isLeased: row.isLeased },
    {
      phase,
      status: phase === 'open' ? 'in_progress' : 'stopped',
      worker: isKept ? worker : null,
      isLeased: isKept,
    },
    'the session',
  );
  same({ stopReason: row.stopReason, pauseReason: row.pauseReason }, requests, 'the requests left');
  same((await store.signals(worker)).length, isKept ? 1 : 0, 'how many leases the worker has');
  if (isKept) await commit({ messages: [message(0)] });
  const { owner } = row;
  const listed = await recoverable(store, owner);
  same(listed.includes(id), end === 'handover', 'whether it is recoverable');
}
