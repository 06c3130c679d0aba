import type { SessionRuntimeOptions } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  agentWith,
  ann,
  builderWith,
  codeOf,
  followingDriver,
  gate,
  memoryPlace,
  refusal,
  runtimeOn,
  takesAnotherTurn,
  until,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;

describe('send', () => {
  it('resolves when the message is accepted, or at the end with `wait`', async () => {
    const open = gate();
    const slow = mockTool('slow', () => open.passed.then(() => 'ok'));
    const driver = followingDriver([toolCall('slow'), final('done')], [final('again')]);
    const runtime = runtimeOn(memoryPlace().open(), builderWith(driver, slow).build());
    await runtime.create({ ...ann, id: 's' });
    const accepted = await runtime.send('s', 'go', { ...ann, executionId: 'mine' });
    expect(accepted).toMatchObject({
      status: 'in_progress',
      executionId: 'mine',
      output: null,
      stopReason: null,
    });
    await until(() => slow.calls.length > 0);
    const busy = await refusal(() => runtime.send('s', 'more', ann));
    expect(busy).toMatchObject({ code: 'conflict', details: { executionId: 'mine' } });
    expect(await codeOf(() => runtime.resume('s', ann))).toBe('conflict');
    open.open();
    const again = runtime.send('s', 'more', { ...waiting, whenBusy: 'queue' });
    expect(await again).toMatchObject({ status: 'completed', output: 'again' });
    expect((await runtime.state('s', ann)).execution.id).not.toBe('mine');
    expect(slow.contexts[0]!.executionId).toBe('mine');
  });

  it('works on queued messages in the order they were sent', async () => {
    const open = gate();
    const driver = followingDriver(...Array.from({ length: 5 }, (_t, n) => [final(`answer ${n}`)]));
    const infer: typeof driver.infer = (...given) => open.passed.then(() => driver.infer(...given));
    const place = memoryPlace();
    const runtime = runtimeOn(place.open(), builderWith({ name: 'slow', infer }).build());
    await runtime.create({ ...ann, id: 's' });
    const first = runtime.send('s', 'm0', waiting);
    await until(async () => (await runtime.get('s', ann)).status === 'in_progress');
    for (const n of [1, 2, 3]) await runtime.send('s', `m${n}`, { ...ann, whenBusy: 'queue' });
    const last = runtime.send('s', 'm4', { ...waiting, whenBusy: 'queue' });
    await until(async () => (await place.open().size('s')).rows > 5);
    open.open();
    await first;
    expect(await last).toMatchObject({ status: 'completed', output: 'answer 4' });
    const said = (await runtime.messages('s', ann)).items.map(({ content }) => content);
    const turns = [0, 1, 2, 3, 4].map((n) => [`m${n}`, `answer ${n}`]);
    expect(said).toEqual(turns.flat());
  });

  it.each<[string, NonNullable<SessionRuntimeOptions['maxQueued']>, string]>([
    ['messages', { messages: 2 }, 'm3'],
    ['bytes', { bytes: 1_000 }, 'm'.repeat(900)],
  ])(
    'limits the %s that wait in a session, and accepts more after it has answered',
    async (_what, maxQueued, content) => {
      const open = gate();
      const driver = followingDriver(
        ...Array.from({ length: 4 }, (_t, n) => [final(`answer ${n}`)]),
      );
      const infer: typeof driver.infer = (...given) =>
        open.passed.then(() => driver.infer(...given));
      const agent = builderWith({ name: 'slow', infer }).build();
      const runtime = runtimeOn(memoryPlace().open(), agent, { maxQueued });
      const queued = { ...ann, whenBusy: 'queue' as const };
      await runtime.create({ ...ann, id: 's' });
      const first = runtime.send('s', 'm0', waiting);
      await until(async () => (await runtime.messages('s', ann)).items.length > 0);
      for (const n of [1, 2]) await runtime.send('s', `m${n}`, queued);
      const given = { ...queued, executionId: 'mine' };
      expect(await refusal(() => runtime.send('s', content, given))).toMatchObject({
        code: 'queue_full',
        details: { sessionId: 's' },
      });
      open.open();
      await first;
      await runtime.wait('s', ann);
      expect((await runtime.send('s', content, { ...given, wait: true })).output).toBe('answer 3');
    },
  );

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a number', 7],
    ['an unknown part', [{ type: 'video' }]],
    ['a message', { role: 'user', content: 'x' }],
  ])('rejects content that is %s, and stores nothing', async (_what, content) => {
    const place = memoryPlace();
    const runtime = runtimeOn(place.open(), agentWith([]));
    await runtime.create({ ...ann, id: 's' });
    const before = await place.open().find('s');
    expect(await codeOf(() => runtime.send('s', content as string, ann))).toBe('invalid_message');
    expect(await place.open().find('s')).toEqual(before);
    await takesAnotherTurn(place, 's');
  });

  it('accepts an execution id once', async () => {
    const place = memoryPlace();
    const driver = followingDriver([final('one')], [final('two')], [final('three')]);
    const runtime = runtimeOn(place.open(), builderWith(driver).build());
    await runtime.create({ ...ann, id: 's' });
    const send = (executionId: string, content = 'go') =>
      runtime.send('s', content, { ...waiting, executionId });
    expect((await send('e1')).output).toBe('one');
    expect(await codeOf(() => send('e1', 'stop'))).toBe('conflict');
    expect((await send('e2')).output).toBe('two');
    expect(await codeOf(() => send('e1', 'stop'))).toBe('conflict');
    await send('e1');
    for (const bad of ['', 'a\nb', 7 as never])
      expect(await codeOf(() => send(bad))).toBe('invalid_option');
    expect((await send('e3')).output).toBe('three');
  });

  it('creates dependencies for each session, in every process', async () => {
    const place = memoryPlace();
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const made: unknown[] = [];
    const make = (name: string) =>
      runtimeOn(
        place.open(),
        builderWith(followingDriver([toolCall('pay'), final('done')]), pay).build(),
        {
          deps: async (session) => {
            made.push([name, session]);
            return { db: name };
          },
        },
      );
    const first = make('first');
    await first.create({ ...ann, id: 's' });
    const paused = await first.send('s', 'go', waiting);
    await make('second').approve('s', paused.pendingApprovals[0]!.callId, waiting);
    expect(pay.contexts[0]!.deps).toEqual({ db: 'second' });
    const session = { id: 's', owner: 'ann' };
    expect(made).toEqual([
      ['first', session],
      ['second', session],
    ]);
    const fixed = runtimeOn(place.open(), agentWith([toolCall('pay')], pay), { deps: { db: 1 } });
    await fixed.create({ ...ann, id: 't' });
    await fixed.send('t', 'go', waiting);
    expect(JSON.stringify(await fixed.state('t', ann))).not.toContain('"db"');
  });

  it('passes the metadata to tools and the whole conversation to the model', async () => {
    const look = mockTool('look');
    const driver = followingDriver([toolCall('look'), final('one')], [final('two')]);
    const runtime = runtimeOn(memoryPlace().open(), builderWith(driver, look).build());
    await runtime.create({ ...ann, id: 's', metadata: { tenant: 't1' } });
    await runtime.send('s', 'go', waiting);
    await runtime.send('s', 'more', waiting);
    expect(look.contexts[0]!.metadata).toEqual({ tenant: 't1' });
    expect([...driver.requests[2]!.messages].map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
  });

  it('fails the run if the script of the driver ends, and the session continues', async () => {
    const place = memoryPlace();
    const runtime = runtimeOn(place.open(), builderWith(DeterministicDriver.fromSteps()).build());
    await runtime.create({ ...ann, id: 's' });
    const failed = await runtime.send('s', 'go', waiting);
    expect(failed).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(failed.outcome!.decisive!.reason).toContain('its script has 0');
    await takesAnotherTurn(place, 's');
  });
});
