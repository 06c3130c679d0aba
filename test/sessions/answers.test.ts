import { AgentBuilder, type AgentEvent, type Tool } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { mortal } from '../setup/mortal-store.ts';
import {
  agentWith,
  ann,
  builderWith,
  callIds,
  clientOn,
  codeOf,
  followingDriver,
  gate,
  receiving,
  isSound,
  memoryPlace,
  refusal,
  runtimeOn,
  takesAnotherTurn,
  until,
  waiting,
} from '../setup/sessions.ts';
import { gated, paused } from '../setup/session-moments.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const isStart = (event: AgentEvent) => event.type === 'ToolCallStarted';
const isRequest = (event: AgentEvent) => event.type === 'ToolApprovalRequested';

describe('D30: a nested agent that no longer exists', () => {
  const inner = (name: string, ...tools: Tool[]) =>
    AgentBuilder.base()
      .withName(name)
      .withDriver(followingDriver([toolCall('pay'), final('paid')]))
      .withTools(...tools)
      .build()
      .asTool({ name: 'ask', description: 'Asks.' });
  const rootOf = (...tools: Tool[]) =>
    builderWith(
      followingDriver([toolCall('ask', { input: 'x' }), final('done')]),
      ...tools,
    ).build();

  it.each<[string, (pay: Tool) => Tool[], string]>([
    ['renamed', (pay) => [inner('other', pay)], 'foreign_state'],
    ['removed', () => [], 'not_resumable'],
    ['a plain tool now', () => [mockTool('ask')], 'not_resumable'],
  ])('%s: rejects the answer, and the call still waits', async (_how, tools, code) => {
    const place = memoryPlace();
    const pay = gated();
    const session = await paused(runtimeOn(place.open(), rootOf(inner('inner', pay))), 's');
    const [callId] = callIds(session);
    const changed = runtimeOn(place.open(), rootOf(...tools(pay)));
    expect(await codeOf(() => changed.approve('s', callId!, ann))).toBe(code);
    const approvals = { [callId!]: { approve: true } } as const;
    expect(await codeOf(() => changed.resume('s', { ...ann, approvals }))).toBe(code);
    expect(await changed.get('s', ann)).toEqual(session);
    const restored = runtimeOn(place.open(), rootOf(inner('inner', pay)));
    expect((await restored.approve('s', callId!, waiting)).output).toBe('done');
    expect(pay.calls).toHaveLength(1);
  });

  it('leaves a session of an unknown agent to other processes', async () => {
    const place = memoryPlace();
    const client = clientOn(place.open(), agentWith([]));
    await client.create({ ...ann, id: 's' });
    await client.send('s', 'go', ann);
    const sales = AgentBuilder.base().withName('sales').withDriver(followingDriver()).build();
    const other = runtimeOn(place.open(), sales);
    await other.recover();
    await other.close();
    expect(await place.open().find('s')).toMatchObject({ phase: 'open', worker: null, token: 0 });
  });
});

describe('an answer counts once', () => {
  it('D34: rejects a second approval with a conflict, and the tool runs once', async () => {
    const place = memoryPlace();
    const open = gate();
    const pay = gated('pay', () => open.passed.then(() => 'paid'));
    const runtime = runtimeOn(place.open(), agentWith([toolCall('pay'), final('done')], pay));
    await paused(runtime, 's');
    const clicks = await Promise.allSettled([1, 2].map(() => runtime.approve('s', 'call_1', ann)));
    expect(clicks.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const late = await refusal(() => runtime.approve('s', 'call_1', ann));
    expect(late.code).toBe('conflict');
    expect(late.message).toContain('was answered before');
    expect(await codeOf(() => runtime.deny('s', 'call_1', { ...ann, reason: 'no' }))).toBe(
      'conflict',
    );
    open.open();
    await until(async () => (await runtime.get('s', ann)).status === 'completed');
    expect(pay.calls).toHaveLength(1);
  });

  it('D19: rejects an approval after a denial and the end of the run, and nothing runs', async () => {
    const pay = gated();
    const driver = followingDriver([toolCall('pay'), final('fine')]);
    const runtime = runtimeOn(memoryPlace().open(), builderWith(driver, pay).build());
    const [callId] = callIds(await paused(runtime, 's'));
    const done = await runtime.deny('s', callId!, { ...waiting, reason: 'too dear' });
    expect(done).toMatchObject({ status: 'completed', output: 'fine' });
    // the model received the reason
    expect(driver.requests[1]!.messages.last()!.text).toBe('Denied by a person: too dear');
    const late = await refusal(() => runtime.approve('s', callId!, ann));
    expect(late.code).toBe('not_resumable');
    expect(late.message).toContain('comes too late: nothing was run');
    const again = () =>
      runtime.resume('s', { ...ann, approvals: { [callId!]: { approve: true } } });
    expect(await codeOf(again)).toBe('not_resumable');
    expect(pay.calls).toEqual([]);
    expect((await runtime.get('s', ann)).status).toBe('completed');
  });

  it('D19: rejects an approval after a stop', async () => {
    const place = memoryPlace();
    const pay = gated();
    const runtime = runtimeOn(place.open(), agentWith([toolCall('pay')], pay));
    await paused(runtime, 's');
    const stopped = await runtime.stop('s', { ...waiting, reason: 'enough' });
    expect(stopped).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(await codeOf(() => runtime.approve('s', 'call_1', ann))).toBe('not_resumable');
    expect(pay.calls).toEqual([]);
    await takesAnotherTurn(place, 's');
  });

  it('rejects an answer to an old call in a new execution', async () => {
    const pay = gated();
    const runtime = runtimeOn(
      memoryPlace().open(),
      builderWith(followingDriver([toolCall('pay'), final('a')], [toolCall('pay')]), pay).build(),
    );
    const [callId] = callIds(await paused(runtime, 's'));
    await runtime.approve('s', callId!, waiting);
    const second = await runtime.send('s', 'again', waiting);
    expect(second.status).toBe('paused');
    const late = await refusal(() => runtime.approve('s', callId!, ann));
    expect(late.code).toBe('unknown_approval');
    expect(late.message).toContain(`Waiting: ${callIds(second)[0]}`);
    expect(pay.calls).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no answer', {}],
    ['both', { approve: true, deny: 'no' }],
    ['arguments that are not an object', { approve: true, args: 'x' }],
    ['a reason that is not a text', { deny: 1 }],
  ])('rejects an answer that is %s, and the call still waits', async (_what, answer) => {
    const runtime = runtimeOn(memoryPlace().open(), agentWith([toolCall('pay')], gated()));
    await paused(runtime, 's');
    const approvals = { call_1: answer } as never;
    expect(await codeOf(() => runtime.resume('s', { ...ann, approvals }))).toBe('invalid_approval');
    expect(callIds(await runtime.get('s', ann))).toEqual(['call_1']);
  });

  it('carries out the accepted answers of several, even if another one came too late', async () => {
    const pay = gated();
    const calls = [
      { name: 'pay', id: 'a' },
      { name: 'pay', id: 'b' },
    ];
    const agent = () => agentWith([toolCalls(calls), final('done')], pay);
    const store = memoryPlace().open();
    const runtime = runtimeOn(store, agent());
    await paused(runtime, 's');
    // another client answers b just before
    const racing = {
      ...store,
      async decide(id: string, answer: Parameters<typeof store.decide>[1]) {
        if (answer.callId === 'b') await store.decide(id, { ...answer, body: '{"deny":"no"}' });
        return store.decide(id, answer);
      },
    };
    const approve = { approve: true } as const;
    const other = runtimeOn(
      racing,
      builderWith(followingDriver([final('x'), final('done')]), pay).build(),
    );
    const late = () => other.resume('s', { ...ann, approvals: { a: approve, b: approve } });
    expect(await codeOf(late)).toBe('conflict');
    const done = await until(async () => {
      const session = await runtime.get('s', ann);
      return session.status === 'completed' ? session : null;
    });
    expect(done.output).toBe('done');
    expect(pay.calls).toHaveLength(1);
  });
});

describe('D34: arguments that an approver edits', () => {
  const transfer = () =>
    mockTool('transfer', (args: { amount: number }) => `moved ${args.amount}`, {
      needsApproval: true,
      parameters: z.object({ amount: z.number().max(100), to: z.string().default('savings') }),
    });

  it('are checked before they are accepted, and a valid edit reaches the tool and the record', async () => {
    const tool = transfer();
    const agent = agentWith([toolCall('transfer', { amount: 90 }), final('done')], tool);
    const runtime = runtimeOn(memoryPlace().open(), agent);
    const received = receiving(runtime);
    await paused(runtime, 's');
    const bad = await refusal(() =>
      runtime.approve('s', 'call_1', { ...ann, args: { amount: 500 } }),
    );
    expect(bad.code).toBe('invalid_approval');
    expect(bad.message).toContain('The call still waits.');
    expect(callIds(await runtime.get('s', ann))).toEqual(['call_1']);
    await runtime.approve('s', 'call_1', { ...waiting, args: { amount: 5 } });
    expect(tool.calls).toEqual([{ amount: 5, to: 'savings' }]);
    const [step] = (await runtime.steps('s', ann)).items;
    expect(step).toMatchObject({
      toolCalls: [{ id: 'call_1', args: { amount: 5 } }],
      results: [{ kind: 'ok', value: 'moved 5' }],
      notes: ['argsEdited:call_1'],
    });
    const started = received.map(({ event }) => event).find(isStart);
    expect(started).toMatchObject({ args: { amount: 5 } });
    const reported = (await runtime.messages('s', ann)).items[2]!.content;
    expect(reported).toBe(
      '[A person changed the arguments to {"amount":5} before this ran.]\nmoved 5',
    );
  });

  it('are accepted while a nested agent waits and its root still runs', async () => {
    const [tool, open] = [transfer(), gate()];
    const inner = AgentBuilder.base()
      .withName('inner')
      .withDriver(followingDriver([toolCall('transfer', { amount: 90 }), final('moved')]))
      .withTools(tool)
      .build()
      .asTool({ name: 'inner', description: 'inner' });
    const slow = mockTool('slow', () => open.passed.then(() => 'ok'));
    const calls = [{ name: 'inner', args: { input: 'x' } }, { name: 'slow' }];
    const driver = followingDriver([toolCalls(calls), final('done')]);
    const runtime = runtimeOn(memoryPlace().open(), builderWith(driver, inner, slow).build());
    const received = receiving(runtime);
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', ann);
    const { toolCallId } = await until(() => received.map(({ event }) => event).find(isRequest));
    const edited = (amount: number) => () =>
      runtime.approve('s', toolCallId, { ...ann, args: { amount } });
    expect(await codeOf(edited(500))).toBe('invalid_approval');
    expect((await edited(5)()).status).toBe('in_progress');
    expect(await codeOf(edited(6))).toBe('conflict');
    expect(tool.calls).toEqual([]);
    open.open();
    await until(async () => (await runtime.get('s', ann)).output === 'done');
    expect(tool.calls).toEqual([{ amount: 5, to: 'savings' }]);
    await isSound(runtime, 's');
  });
});

it('D18, D31: another process carries out an answer to a nested agent whose root never paused', async () => {
  const place = memoryPlace();
  const pay = gated();
  const never = new Promise<never>(() => {});
  const slow = (who: string) =>
    mockTool('slow', () => (who === 'A' ? never : 'ok'), { idempotent: true });
  const make = (who: string) => {
    const inner = AgentBuilder.base()
      .withName('inner')
      .withDriver(followingDriver([toolCall('pay'), final('paid')]))
      .withTools(pay)
      .build()
      .asTool({ name: 'inner', description: 'inner' });
    const calls = [{ name: 'inner', args: { input: 'x' } }, { name: 'slow' }];
    const driver = followingDriver([toolCalls(calls), final('done')]);
    return builderWith(driver, inner, slow(who)).build();
  };
  const victim = mortal(place.open());
  const lease = { leaseMs: 200, heartbeatMs: 40, signalMs: 20 };
  const a = runtimeOn(victim.store, make('A'), { lease });
  const received = receiving(a);
  await a.create({ ...ann, id: 's' });
  await a.send('s', 'go', ann);
  const { toolCallId } = await until(() => received.map(({ event }) => event).find(isRequest));
  victim.die();
  const b = runtimeOn(place.open(), make('B'), { lease });
  expect((await b.approve('s', toolCallId, ann)).status).toBe('in_progress');
  await until(() => b.recover());
  await until(async () => (await b.get('s', ann)).status === 'completed');
  expect(pay.calls).toHaveLength(1);
  await isSound(b, 's');
  await takesAnotherTurn(place, 's');
});
