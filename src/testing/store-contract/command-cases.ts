import { utf8Bytes } from '../../json.ts';
import type { SessionPhase } from '../../sessions/session-rows.ts';
import type { Acceptance } from '../../sessions/session-store.ts';
import { found, holds, same } from './expect.ts';
import {
  at,
  call,
  command,
  EXECUTION,
  fresh,
  line,
  type StoreHarness,
  type HarnessCase,
  root,
} from './store-harness.ts';

const phases: readonly SessionPhase[] = ['idle', 'open', 'paused'];

/** Creates a session in this phase. */
async function inPhase(harness: StoreHarness, phase: SessionPhase): Promise<string> {
  if (phase === 'idle') return (await harness.idle()).id;
  return (phase === 'open' ? await harness.held() : await harness.paused()).id;
}

const answer = (
  callId: string,
  patch: object = {},
): Parameters<StoreHarness['store']['decide']>[1] => ({
  executionId: EXECUTION,
  callId,
  body: '{"approved":true}',
  at: at(40),
  ...patch,
});

export const commandCases: readonly HarnessCase[] = [
  {
    name: 'accept adds a command in the allowed phases, and returns the phase',
    async run(harness) {
      const { store } = harness;
      for (const phase of phases) {
        const id = await inPhase(harness, phase);
        const before = await harness.row(id);
        const first = await store.nextCommand(id);
        const others = phases.filter((other) => other !== phase);
        same(
          await store.accept(id, command('{"late":1}', 30), { phases: others }),
          { accepted: false, phase },
          `accept in ${phase} where only ${others.join(', ')} would do`,
        );
        same(await harness.row(id), before, 'the session that accepted nothing');
        same(await store.nextCommand(id), first, 'its next command');
        same(
          await store.accept(id, command('{"late":2}', 31), { phases: [phase] }),
          { accepted: true, phase },
          `accept in ${phase}`,
        );
        const after = await harness.row(id);
        same(
          after,
          { ...before, phase: 'open', status: 'in_progress', updatedAt: at(31) },
          'the session that accepted',
        );
        holds((await store.nextCommand(id)) !== null, 'there is a command now');
      }
      same(
        await store.accept(fresh('ses'), command(), { phases }),
        null,
        'accept of an unknown session',
      );
    },
  },
  {
    name: 'accept refuses too many waiting commands, by number and by bytes',
    async run(harness) {
      const { store } = harness;
      const { id } = await harness.open();
      const waiting = utf8Bytes(command().body);
      const send = (body: string, commands: number, bytes: number): Promise<Acceptance | null> =>
        store.accept(id, command(body), { phases, maxWaiting: { commands, bytes } });
      const before = await harness.row(id);
      const full = { accepted: false, phase: 'open', isFull: true };
      same(await send('"a"', 1, 1_000), full, 'a second command where one may wait');
      same(
        await send('"é"', 2, waiting + 3),
        full,
        'a command of four bytes where there is space for three',
      );
      same(await harness.row(id), before, 'the session that is full');
      same(
        await send('"é"', 2, waiting + 4),
        { accepted: true, phase: 'open' },
        'a command of four bytes where there is space for them',
      );
      const idle = await harness.idle();
      same(
        await store.accept(idle.id, command(), { phases, maxWaiting: { commands: 1, bytes: 1 } }),
        { accepted: true, phase: 'idle' },
        'the first command, however large',
      );
    },
  },
  {
    name: 'accept checks the revision',
    async run({ store, held }) {
      const { id, commit } = await held();
      await commit({});
      await commit({});
      const accept = (revision: number): Promise<unknown> =>
        store.accept(id, command(), { phases: ['open'], revision });
      same(await accept(1), { accepted: false, phase: 'open' }, 'accept at an older revision');
      same(await accept(3), { accepted: false, phase: 'open' }, 'accept at a later revision');
      same(await accept(2), { accepted: true, phase: 'open' }, 'accept at the revision');
    },
  },
  {
    name: 'D16: one of two concurrent sends or resumes wins',
    async run({ store, idle, paused }) {
      for (const phase of ['idle', 'paused'] as const) {
        const { id } = phase === 'idle' ? await idle() : await paused();
        const answers = await Promise.all(
          [1, 2, 3].map((n) =>
            store.accept(
              id,
              { ...command(`{"n":${n}}`), kind: phase === 'idle' ? 'message' : 'resume' },
              { phases: [phase] },
            ),
          ),
        );
        const won = answers.flatMap((given, i) => (given?.accepted === true ? [i + 1] : []));
        same(won.length, 1, `how many of three were accepted in ${phase}`);
        same((await store.nextCommand(id))?.body, `{"n":${won[0]}}`, 'the command that is there');
      }
    },
  },
  {
    name: 'a resume comes before messages, other commands in order; a commit removes the command that it carries out',
    async run({ store, held }) {
      const { id, commit } = await held();
      const first = found(await store.nextCommand(id), 'the first command');
      same(
        first,
        { number: first.number, kind: 'message', executionId: EXECUTION, body: command().body },
        'the first command',
      );
      await store.accept(id, command('{"n":2}'), { phases: ['open'] });
      same(await store.nextCommand(id), first, 'the oldest command');
      const resume = { kind: 'resume', executionId: 'exe-2', body: '{"n":3}', at: at(3) } as const;
      await store.accept(id, resume, { phases: ['open'] });
      const third = found(await store.nextCommand(id), 'the third command');
      same(
        third,
        { number: third.number, kind: 'resume', executionId: 'exe-2', body: '{"n":3}' },
        'the third command, which does not wait for messages',
      );
      await commit({ done: third.number });
      same(await store.nextCommand(id), first, 'the first command again');
      await commit({ done: first.number });
      const second = found(await store.nextCommand(id), 'the second command');
      same(second.body, '{"n":2}', 'the second command');
      await commit({ done: second.number });
      same(await store.nextCommand(id), null, 'what is left');
      await store.accept(id, command('{"n":4}'), { phases: ['open'] });
      const fourth = found(await store.nextCommand(id), 'the fourth command');
      const numbers = [first, second, third, fourth].map(({ number }) => number);
      same(
        numbers.toSorted((a, b) => a - b),
        numbers,
        'the numbers, which grow',
      );
      same(new Set(numbers).size, 4, 'how many different numbers there are');
      same(await store.nextCommand(fresh('ses')), null, 'the command of an unknown session');
    },
  },
  {
    name: 'decide answers a call that needs approval once, and opens the session',
    async run({ store, paused, row }) {
      const { id } = await paused(['a', 'b']);
      const before = await row(id);
      same(before.phase, 'paused', 'the phase before');
      same(await store.decide(id, answer('a')), 'accepted', 'the first answer');
      same(
        await row(id),
        { ...before, phase: 'open', status: 'in_progress', updatedAt: at(40) },
        'the session',
      );
      same(
        await line(store, id, 'a'),
        {
          executionId: EXECUTION,
          callId: 'a',
          tool: 'send_mail',
          state: 'decided',
          token: 0,
          starts: 0,
          answer: '{"approved":true}',
          result: null,
        },
        'the answered call',
      );
      const late = answer('a', { body: '{"approved":false}', at: at(50) });
      same(await store.decide(id, late), 'answered', 'the second answer');
      same((await line(store, id, 'a')).answer, '{"approved":true}', 'the answer that stays');
      same((await row(id)).updatedAt, at(40), 'the last change');
      same((await line(store, id, 'b')).state, 'waiting', 'the other call');
    },
  },
  {
    name: 'decide detects a call that was answered before, also after it ran, and one that never needed approval',
    async run({ store, paused, take }) {
      const { id } = await paused(['a']);
      await store.decide(id, answer('a'));
      const { commit } = await take(id);
      await commit({ calls: [call('a', 'started'), call('free', 'started')] });
      same(await store.decide(id, answer('a')), 'answered', 'an answer to a running call');
      await commit({ calls: [call('a', 'committed', { result: '{}' })] });
      same(await store.decide(id, answer('a')), 'answered', 'an answer to a call that ran');
      same(await store.decide(id, answer('free')), 'unknown', 'an answer to a call of no question');
      same(await store.decide(id, answer('none')), 'unknown', 'an answer to no call');
      same(await store.decide(fresh('ses'), answer('a')), 'unknown', 'an answer to no session');
    },
  },
  {
    name: 'D19: decide refuses an answer once the session is idle or in another execution',
    async run({ store, paused, take, row }) {
      const { id } = await paused(['a', 'b', 'c']);
      same(
        await store.decide(id, answer('a', { executionId: 'exe-0' })),
        'over',
        'an answer to another execution',
      );
      await store.decide(id, answer('a'));
      const held = await take(id);
      await held.commit({ root: root({ status: 'completed' }), end: 'ended' });
      const before = await row(id);
      for (const callId of ['a', 'b', 'none'])
        same(await store.decide(id, answer(callId)), 'over', `an answer to ${callId} when idle`);
      same(await row(id), before, 'the idle session');
      await store.accept(id, command(), { phases: ['idle'] });
      await (await take(id)).commit({ root: root({ executionId: 'exe-2' }) });
      same(await store.decide(id, answer('c')), 'over', 'an answer in a later execution');
      same((await line(store, id, 'c')).state, 'waiting', 'the call without an answer');
    },
  },
  {
    name: 'D16: one of two concurrent answers to a call is accepted',
    async run({ store, paused }) {
      const { id } = await paused(['a']);
      const given = await Promise.all(
        [1, 2, 3].map((n) => store.decide(id, answer('a', { body: `{"n":${n}}` }))),
      );
      same(given.toSorted(), ['accepted', 'answered', 'answered'], 'the outcomes');
      const winner = given.indexOf('accepted') + 1;
      same((await line(store, id, 'a')).answer, `{"n":${winner}}`, 'the answer that stays');
    },
  },
  {
    name: 'D23: calls that need approval together are answered in any order, also while a worker runs the session',
    async run({ store, paused, take }) {
      const { id } = await paused(['a', 'b', 'c']);
      same(await store.decide(id, answer('c')), 'accepted', 'the answer to c');
      await take(id);
      same(await store.decide(id, answer('a')), 'accepted', 'the answer to a');
      same(await store.decide(id, answer('b')), 'accepted', 'the answer to b');
      const decided = await store.calls(id, EXECUTION, { state: 'decided' });
      same(decided.map(({ callId }) => callId).toSorted(), ['a', 'b', 'c'], 'the decided calls');
    },
  },
  {
    name: 'request stores a stop and a pause, unless the session is idle; the first reason stays',
    async run(harness) {
      const { store } = harness;
      for (const phase of phases) {
        const id = await inPhase(harness, phase);
        const before = await harness.row(id);
        same(await store.request(id, { pause: 'lunch' }), phase, `the phase a pause found`);
        same(await store.request(id, { pause: 'tea' }), phase, `the phase a second pause found`);
        const pauseReason = phase === 'idle' ? null : 'lunch';
        same(await harness.row(id), { ...before, pauseReason }, `${phase} after two pauses`);
        same(await store.request(id, { stop: 'enough' }), phase, `the phase a stop found`);
        const after = await harness.row(id);
        same(after.stopReason, phase === 'idle' ? null : 'enough', `the stop in ${phase}`);
        same(
          after.phase,
          phase === 'paused' ? 'open' : phase,
          `the phase after a stop in ${phase}`,
        );
        await store.request(id, { stop: 'too late' });
        same((await harness.row(id)).stopReason, after.stopReason, `the second stop in ${phase}`);
      }
      same(await store.request(fresh('ses'), { stop: 'x' }), null, 'a stop of an unknown session');
    },
  },
];
