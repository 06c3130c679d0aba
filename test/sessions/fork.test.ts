import type { Session, SessionRuntime } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  agentWith,
  ann,
  builderWith,
  callIds,
  codeOf,
  followingDriver,
  gate,
  isSound,
  places,
  refusal,
  runtimeOn,
  takesAnotherTurn,
  until,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const cost = { cost: 0.01 };

/** Reads everything of a session that could visibly change. */
const look = async (runtime: SessionRuntime, id: string): Promise<unknown> => [
  await runtime.get(id, ann),
  await runtime.messages(id, ann),
  await runtime.steps(id, ann),
  await runtime.events(id, ann),
  (await runtime.state(id, ann)).toJSON(),
];

describe.each(places)('fork (%s)', (_name, makePlace) => {
  const turns = [
    [toolCall('look', {}, '', cost), toolCall('look', {}, '', cost), final('one', cost)],
    [toolCall('look', {}, '', cost), final('two', cost)],
    [final('three', cost)],
  ];
  const open = () => {
    const place = makePlace();
    const tool = mockTool('look', 'x'.repeat(20_000));
    const runtime = runtimeOn(place.open(), builderWith(followingDriver(...turns), tool).build());
    return { place, runtime, tool };
  };
  async function twoTurns(runtime: SessionRuntime): Promise<Session> {
    await runtime.create({ ...ann, id: 's', metadata: { plan: 'pro' } });
    await runtime.send('s', 'first', waiting);
    return runtime.send('s', 'second', waiting);
  }

  it('at the end: has the same conversation and totals in a new session', async () => {
    const { place, runtime } = open();
    const source = await twoTurns(runtime);
    const before = await look(runtime, 's');
    const fork = await runtime.fork('s', { ...ann, id: 'f' });
    const { id: _i, createdAt: _c, updatedAt: _u, forkedFrom: _f, executionId, ...same } = source;
    expect(fork).toMatchObject({ ...same, id: 'f' });
    // tool keys are derived from it and must differ
    expect(fork.executionId).not.toBe(executionId);
    expect((await runtime.messages('f', ann)).items).toEqual(
      (await runtime.messages('s', ann)).items,
    );
    expect((await runtime.steps('f', ann)).items).toEqual((await runtime.steps('s', ann)).items);
    expect((await runtime.state('f', ann)).agentId).not.toBe(
      (await runtime.state('s', ann)).agentId,
    );
    expect(await runtime.send('f', 'third', waiting)).toMatchObject({
      output: 'three',
      messageCount: 12,
    });
    expect(await look(runtime, 's')).toEqual(before);
    await isSound(runtime, 'f');
    await takesAnotherTurn(place, 'f');
    await runtime.delete('s', ann);
    // the fork does not depend on its source
    expect((await runtime.messages('f', ann)).items).toHaveLength(14);
    expect((await runtime.state('f', ann)).messages.at(2)!.text).toHaveLength(20_000);
  });

  it('at every step: has the state after that step, and accepts resume or a new message', async () => {
    const { place, runtime, tool } = open();
    await twoTurns(runtime);
    const before = await look(runtime, 's');
    const steps = (await runtime.steps('s', ann)).items;
    const messages = (await runtime.messages('s', ann)).items;
    const counts = [3, 5, 6, 9, 10];
    for (const [i, step] of steps.entries()) {
      const atStep = i + 1;
      const fork = await runtime.fork('s', { ...ann, atStep });
      const continues = step.outcome!.shouldContinue;
      const inTurn = steps.filter(
        ({ executionId }, k) => executionId === step.executionId && k <= i,
      );
      expect(fork).toMatchObject({
        status: continues ? 'paused' : 'completed',
        pause: continues ? { kind: 'fork' } : null,
        stepCount: atStep,
        messageCount: counts[i],
        usage: { total: 15 * inTurn.length },
        cost: expect.closeTo(0.01 * inTurn.length, 9),
        output: continues ? null : messages[counts[i]! - 1]!.content,
        metadata: { plan: 'pro' },
      });
      expect(fork.executionId).not.toBe(step.executionId);
      expect(fork.info).toMatchObject({ stepCount: atStep, usage: { total: 15 * atStep } });
      expect((await runtime.messages(fork.id, ann)).items).toEqual(messages.slice(0, counts[i]));
      expect((await runtime.steps(fork.id, ann)).items).toEqual(steps.slice(0, atStep));
      const ran = tool.calls.length;
      if (continues) {
        // the same answers come again from here, without the steps before
        const again = await runtime.fork('s', { ...ann, atStep });
        const done = await runtime.resume(again.id, waiting);
        expect(done).toMatchObject({ status: 'completed', output: i < 3 ? 'one' : 'two' });
        expect(done.usage.total).toBe(15 * (i < 3 ? 3 : 2));
        expect(tool.calls.length - ran).toBe(i === 0 ? 1 : 0);
        await isSound(runtime, again.id);
        await takesAnotherTurn(place, again.id);
      }
      await takesAnotherTurn(place, fork.id);
      const said = (await runtime.messages(fork.id, ann)).items.slice(-2);
      expect(said.map(({ content }) => content)).toEqual(['and now?', 'next']);
    }
    expect(await look(runtime, 's')).toEqual(before);
  });

  it('of a fork: works like one of a session', async () => {
    const { place, runtime } = open();
    await twoTurns(runtime);
    const first = await runtime.fork('s', { ...ann, atStep: 4 });
    const second = await runtime.fork(first.id, { ...ann, atStep: 2 });
    expect(second).toMatchObject({ status: 'paused', stepCount: 2, messageCount: 5 });
    expect(await runtime.resume(second.id, waiting)).toMatchObject({ output: 'one', stepCount: 3 });
    const third = await runtime.fork(second.id, ann);
    expect(await runtime.send(third.id, 'second', waiting)).toMatchObject({ output: 'two' });
    await takesAnotherTurn(place, third.id);
  });

  it('of a session that waits for approval: starts from its last finished step, and the source still waits', async () => {
    const place = makePlace();
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const steps = [toolCall('look'), toolCalls([{ name: 'pay' }, { name: 'look' }]), final('done')];
    const driver = followingDriver(steps);
    const runtime = runtimeOn(place.open(), builderWith(driver, pay, mockTool('look')).build());
    await runtime.create({ ...ann, id: 's' });
    const paused = await runtime.send('s', 'go', waiting);
    const before = await look(runtime, 's');
    const fork = await runtime.fork('s', ann);
    expect(fork).toMatchObject({
      status: 'paused',
      pause: { kind: 'fork' },
      stepCount: 1,
      messageCount: 3,
    });
    expect(fork.pendingApprovals).toEqual([]);
    expect(await codeOf(() => runtime.approve(fork.id, callIds(paused)[0]!, ann))).toBe(
      'not_resumable',
    );
    const again = await runtime.resume(fork.id, waiting);
    expect(again.pendingApprovals).toMatchObject([{ tool: 'pay' }]);
    expect(pay.calls).toEqual([]);
    expect(await look(runtime, 's')).toEqual(before);
    await runtime.approve('s', callIds(paused)[0]!, waiting);
    await runtime.approve(again.id, callIds(again)[0]!, waiting);
    expect(pay.calls).toHaveLength(2);
    await takesAnotherTurn(place, fork.id);
  });

  it('of a busy session: starts from its last finished step', async () => {
    const place = makePlace();
    const held = gate();
    const slow = mockTool('slow', () => held.passed.then(() => 'ok'));
    const agent = agentWith(
      [toolCall('look'), toolCall('slow'), final('done')],
      slow,
      mockTool('look'),
    );
    const runtime = runtimeOn(place.open(), agent);
    await runtime.create({ ...ann, id: 's' });
    const sent = runtime.send('s', 'go', waiting);
    await until(() => slow.calls.length > 0);
    const fork = await runtime.fork('s', ann);
    expect(fork).toMatchObject({ status: 'paused', stepCount: 1, messageCount: 3 });
    held.open();
    expect((await sent).output).toBe('done');
    await takesAnotherTurn(place, fork.id);
  });

  it('of a session without a run', async () => {
    const { place, runtime } = open();
    await runtime.create({ ...ann, id: 's', messages: [{ role: 'user', content: 'hi' }] });
    const fork = await runtime.fork('s', ann);
    expect(fork).toMatchObject({ status: 'pending', messageCount: 1 });
    await takesAnotherTurn(place, fork.id);
    expect((await runtime.get('s', ann)).messageCount).toBe(1);
  });

  it('D41: after a prune: works at the remaining steps', async () => {
    const { runtime } = open();
    await twoTurns(runtime);
    await runtime.prune({ olderThan: new Date(Date.now() + 1_000) });
    const late = await refusal(() => runtime.fork('s', { ...ann, atStep: 2 }));
    expect(late.message).toContain('a step that is kept: 4 to 5');
    const fork = await runtime.fork('s', { ...ann, atStep: 4 });
    expect(await runtime.resume(fork.id, waiting)).toMatchObject({
      output: 'two',
      messageCount: 10,
    });
  });

  it('at a missing step or under a taken id: rejects with a typed error and creates nothing', async () => {
    const { runtime } = open();
    await twoTurns(runtime);
    for (const atStep of [0, -1, 6, 1.5, Number.NaN, '2' as never]) {
      const error = await refusal(() => runtime.fork('s', { ...ann, atStep, id: 'f' }));
      expect(error.code).toBe('invalid_option');
      expect(error.message).toContain('a step that is kept: 1 to 5');
    }
    expect(await codeOf(() => runtime.fork('s', { ...ann, id: 's' }))).toBe('conflict');
    expect(await codeOf(() => runtime.fork('s', { ...ann, id: 'a b' }))).toBe('invalid_option');
    expect(await codeOf(() => runtime.fork('s', { owner: 'bob' }))).toBe('session_not_found');
    expect((await runtime.list(ann)).sessions).toHaveLength(1);
  });
});
