import { AgentBuilder, type Tool } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  agentWith,
  ann,
  builderWith,
  callIds,
  followingDriver,
  receiving,
  isSound,
  places,
  runtimeOn,
  takesAnotherTurn,
  until,
  waiting,
} from '../setup/sessions.ts';
import { orders } from '../setup/approvals.ts';
import { gated, paused } from '../setup/session-moments.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe.each(places)('approvals (%s)', (_name, makePlace) => {
  it('D21: the steps before a pause are stored, with the results of parallel calls', async () => {
    const place = makePlace();
    const look = mockTool('look', 'seen');
    const steps = [
      toolCall('look'),
      toolCall('look'),
      toolCalls([{ name: 'look' }, { name: 'pay' }]),
    ];
    await paused(runtimeOn(place.open(), agentWith(steps, look, gated())), 's');
    const other = runtimeOn(place.open(), agentWith([]));
    const state = await other.state('s', ann);
    expect(state.steps.length).toBe(2);
    expect(state.currentStep).toMatchObject({ number: 3, results: [{ value: 'seen' }] });
    expect((await other.steps('s', ann)).items.map(({ number }) => number)).toEqual([1, 2]);
    expect(await other.get('s', ann)).toMatchObject({
      status: 'paused',
      stopReason: null,
      pause: { kind: 'approval' },
      pendingApprovals: [{ callId: 'call_4', tool: 'pay', args: {}, path: [] }],
      usage: { total: 45 },
    });
    await isSound(other, 's');
  });

  it('D17: a process that never saw the session continues it', async () => {
    const place = makePlace();
    const pay = gated();
    const make = () =>
      builderWith(followingDriver([toolCall('pay', { n: 1 }), final('done')]), pay);
    const first = runtimeOn(place.open(), make().build());
    const session = await paused(first, 's');
    await first.close();
    const second = runtimeOn(place.open(), make().build());
    const done = await second.approve('s', callIds(session)[0]!, waiting);
    expect(done).toMatchObject({ status: 'completed', output: 'done', usage: { total: 30 } });
    expect(done.executionId).toBe(session.executionId);
    expect(pay.calls).toEqual([{ n: 1 }]);
    await takesAnotherTurn(place, 's');
  });

  it('D24, D32: parallel calls do not run again, and no message is duplicated', async () => {
    const place = makePlace();
    const [look, pay] = [mockTool('look', 'seen'), gated()];
    const calls = [{ name: 'look' }, { name: 'pay' }, { name: 'look' }];
    const make = () => builderWith(followingDriver([toolCalls(calls), final('done')]), look, pay);
    const first = runtimeOn(place.open(), make().build());
    const session = await paused(first, 's');
    const before = (await first.messages('s', ann)).items;
    const second = runtimeOn(place.open(), make().build());
    await second.approve('s', callIds(session)[0]!, waiting);
    expect(look.calls).toHaveLength(2);
    expect(pay.calls).toHaveLength(1);
    const after = (await second.messages('s', ann)).items;
    expect(after.slice(0, before.length)).toEqual(before);
    expect(new Set(after.map(({ id }) => id)).size).toBe(after.length);
    expect(after.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'tool',
      'assistant',
    ]);
    const [step] = (await second.steps('s', ann)).items;
    expect(step!.messageIds).toEqual(after.slice(1, 5).map(({ id }) => id));
    const rows = await place.open().messages('s', '');
    expect(rows.map(({ position }) => position)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('D25: any number of pauses, each answered in its own process', async () => {
    const place = makePlace();
    const pay = gated();
    const steps = [...Array.from({ length: 5 }, () => toolCall('pay')), final('done')];
    const make = () => runtimeOn(place.open(), builderWith(followingDriver(steps), pay).build());
    let session = await paused(make(), 's');
    for (let n = 1; n <= 5; n++) {
      expect(session.status).toBe('paused');
      session = await make().approve('s', callIds(session)[0]!, waiting);
      expect(pay.calls).toHaveLength(n);
    }
    expect(session).toMatchObject({ status: 'completed', output: 'done', stepCount: 6 });
    expect(session.usage.total).toBe(90);
    await takesAnotherTurn(place, 's');
  });

  it('D29: needsApproval is called once per call', async () => {
    const place = makePlace();
    let asked = 0;
    const pay = mockTool('pay', 'paid', {
      needsApproval: () => {
        asked += 1;
        return true;
      },
    });
    const steps = [toolCalls([{ name: 'pay' }, { name: 'pay' }]), final('done')];
    const make = () => runtimeOn(place.open(), builderWith(followingDriver(steps), pay).build());
    const [one, two] = callIds(await paused(make(), 's'));
    await make().approve('s', two!, waiting);
    await make().approve('s', one!, waiting);
    expect(asked).toBe(2);
    expect(pay.calls).toHaveLength(2);
  });

  it.each(orders)(
    'D23: three pending calls are answered in the order %i %i %i',
    async (...order) => {
      const place = makePlace();
      const pay = gated('pay', (args: { n: number }) => `paid ${args.n}`);
      const free = mockTool('free');
      const calls = [1, 2, 3].map((n) => ({ name: 'pay', args: { n }, id: `p${n}` }));
      const steps = [toolCalls([...calls, { name: 'free', id: 'f' }]), final('done')];
      const make = () =>
        runtimeOn(place.open(), builderWith(followingDriver(steps), pay, free).build());
      expect(callIds(await paused(make(), 's'))).toEqual(['p1', 'p2', 'p3']);
      const left = [1, 2, 3];
      for (const n of order) {
        left.splice(left.indexOf(n), 1);
        // the second answer is a denial
        const session =
          left.length === 1
            ? await make().deny('s', `p${n}`, { ...waiting, reason: 'not this one' })
            : await make().approve('s', `p${n}`, waiting);
        expect(callIds(session)).toEqual(left.map((open) => `p${open}`));
        expect(session.status).toBe(left.length > 0 ? 'paused' : 'completed');
      }
      const denied = order[1];
      expect(pay.calls).toEqual(order.filter((n) => n !== denied).map((n) => ({ n })));
      expect(free.calls).toHaveLength(1);
      const messages = (await make().messages('s', ann)).items.filter(
        ({ role }) => role === 'tool',
      );
      expect(messages.map(({ toolCallId, content }) => [toolCallId, content])).toEqual([
        ...[1, 2, 3].map((n) => [
          `p${n}`,
          n === denied ? 'Denied by a person: not this one' : `paid ${n}`,
        ]),
        ['f', 'ok'],
      ]);
      await takesAnotherTurn(place, 's');
    },
  );

  it('D23: concurrent answers to different processes all count', async () => {
    const place = makePlace();
    const pay = gated();
    const calls = [1, 2, 3].map((n) => ({ name: 'pay', args: { n }, id: `p${n}` }));
    const make = () =>
      runtimeOn(
        place.open(),
        builderWith(followingDriver([toolCalls(calls), final('done')]), pay).build(),
      );
    const first = make();
    await paused(first, 's');
    const runtimes = [first, make(), make()];
    await Promise.all(runtimes.map((runtime, i) => runtime.approve('s', `p${i + 1}`, ann)));
    const done = await until(async () => {
      const session = await first.get('s', ann);
      // the holder of the lease continues with the answers to the other processes
      return session.status === 'completed' ? session : null;
    });
    expect(done.output).toBe('done');
    expect(pay.calls).toHaveLength(3);
    await takesAnotherTurn(place, 's');
  });

  it('D31, D20: another process answers an agent that is nested two levels deep', async () => {
    const place = makePlace();
    const [pay, prepare] = [gated(), mockTool('prepare')];
    const inside = (name: string, steps: ScenarioStep[], ...tools: Tool[]) =>
      AgentBuilder.base()
        .withName(name)
        .withDriver(followingDriver(steps))
        .withTools(...tools)
        .build()
        .asTool({ name, description: name });
    const ask = { input: 'x' };
    const make = () => {
      const calls = [toolCall('prepare'), toolCall('pay', { n: 1 }), final('inner done')];
      const inner = inside('inner', calls, prepare, pay);
      const middle = inside('middle', [toolCall('inner', ask), final('middle done')], inner);
      const driver = followingDriver([toolCall('middle', ask), final('done')]);
      return runtimeOn(place.open(), builderWith(driver, middle).build());
    };
    const session = await paused(make(), 's');
    expect(session.pendingApprovals).toMatchObject([
      { tool: 'pay', args: { n: 1 }, path: ['t0s0c0', expect.any(String)] },
    ]);
    const second = make();
    const received = receiving(second);
    const done = await second.approve('s', callIds(session)[0]!, waiting);
    expect(done).toMatchObject({ status: 'completed', output: 'done' });
    expect(prepare.calls).toHaveLength(1);
    expect(pay.calls).toHaveLength(1);
    // three steps of the innermost agent, two of each agent above it
    expect(done.usage.total).toBe(15 * 7);
    const started = received.flatMap(({ event }) => (event.type === 'AgentStarted' ? [event] : []));
    expect(started.map(({ resumed }) => resumed)).toEqual([true, true, true]);
    await takesAnotherTurn(place, 's');
  });
});
