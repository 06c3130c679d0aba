import { defineTool, type Session } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { readTrace } from '../../src/trace/index.ts';
import { mortal } from '../setup/mortal-store.ts';
import {
  ann,
  builderWith,
  followingDriver,
  memoryPlace,
  pause,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';
import { traceOn } from './sound-trace.ts';

const { toolCall, final } = ScenarioStep;

it('a fork continues the steps of its source in its own execution', async () => {
  const driver = followingDriver([toolCall('look'), toolCall('look', { again: 1 }), final('done')]);
  const runtime = runtimeOn(
    memoryPlace().open(),
    builderWith(driver, mockTool('look', 'seen')).build(),
  );
  await runtime.create({ ...ann, id: 'source' });
  await runtime.send('source', 'go', waiting);
  const fork: Session = await runtime.fork('source', { ...ann, atStep: 2, id: 's' });
  const before = await traceOn(runtime);
  expect(before).toMatchObject({
    executionId: fork.executionId,
    status: 'paused',
    executions: [{ id: fork.executionId, stepCount: 2 }],
    pauses: [{ kind: 'fork', durationMs: null }],
    stop: { action: { kind: 'resume' } },
  });
  expect(before.steps).toHaveLength(2);
  await runtime.resume('s', waiting);
  const after = await traceOn(runtime);
  expect(after).toMatchObject({ status: 'completed', executionId: fork.executionId });
  expect(after.steps.map(({ number }) => number)).toEqual([1, 2, 3]);
});

it('the time between a crash and the recovery is a mark and not work', async () => {
  const place = memoryPlace();
  const never = new Promise<never>(() => {});
  const make = (isDying: boolean) =>
    builderWith(
      followingDriver([toolCall('look'), final('done')]),
      mockTool('look', () => (isDying ? never : 'seen'), { idempotent: true }),
    ).build();
  const victim = mortal(place.open());
  const lease = { leaseMs: 60, heartbeatMs: 20, signalMs: 20 };
  const first = runtimeOn(victim.store, make(true), { lease });
  await first.create({ ...ann, id: 's' });
  await first.send('s', 'go', ann);
  const second = runtimeOn(place.open(), make(false), { lease });
  await until(async () => (await traceOn(second)).steps[0]?.bars[1]?.state === 'running');
  victim.die();
  await pause(80);
  await until(() => second.recover());
  await until(async () => (await second.get('s', ann)).status === 'completed');
  const trace = await traceOn(second);
  expect(trace.pauses).toMatchObject([{ step: 1, kind: 'crash' }]);
  const gap = trace.pauses[0]!.durationMs!;
  expect(gap).toBeGreaterThanOrEqual(60);
  const wall = Date.parse(trace.steps[1]!.startedAt) - Date.parse(trace.steps[0]!.startedAt);
  expect(trace.steps[0]!.durationMs).toBeLessThan(wall - gap + 20);
  expect(trace.steps[0]!.bars[1]).toMatchObject({ name: 'look', state: 'ok' });
  expect(trace.totals.pausedMs).toBe(0);
});

it('a root step waits while its nested agent needs approval, and its bar has the waiting time', async () => {
  const inner = builderWith(
    followingDriver([toolCall('remove'), final('gone')]),
    mockTool('remove', 'removed', { needsApproval: true }),
  )
    .withName('cleaner')
    .build();
  const outer = builderWith(
    followingDriver([toolCall('clean', { input: 'go' }), final('clean')]),
    inner.asTool({ name: 'clean', description: 'Cleans.' }),
  ).build();
  const runtime = runtimeOn(memoryPlace().open(), outer);
  await runtime.create({ ...ann, id: 's' });
  const asked = await runtime.send('s', 'go', waiting);
  const waits = await traceOn(runtime);
  expect(waits.steps).toMatchObject([{ number: 1, type: 'waiting' }]);
  expect(waits.steps[0]!.bars).toMatchObject([
    { name: 'model', state: 'ok' },
    { name: 'clean', state: 'waiting' },
  ]);
  await pause(30);
  await runtime.approve('s', asked.pendingApprovals[0]!.callId, waiting);
  const trace = await traceOn(runtime);
  expect(trace).toMatchObject({ status: 'completed', steps: [{ number: 1 }, { number: 2 }] });
  const [, bar] = trace.steps[0]!.bars;
  expect(bar).toMatchObject({ name: 'clean', state: 'ok', answer: null });
  expect(bar!.pausedMs).toBeGreaterThanOrEqual(25);
});

it('counts an open pause on the clock of the runtime', async () => {
  const clock = fakeClock();
  const agent = builderWith(
    DeterministicDriver.fromSteps(toolCall('remove')),
    mockTool('remove', 'gone', { needsApproval: true }),
  )
    .withClock(clock)
    .build();
  const runtime = runtimeOn(memoryPlace().open(), agent, { clock });
  await runtime.create({ ...ann, id: 's' });
  await runtime.send('s', 'go', waiting);
  await clock.advance(3_600_000);
  expect((await readTrace(runtime, 's', ann)).totals.pausedMs).toBe(3_600_000);
});

it('a call that asks the user waits in its row, and its time is not working time', async () => {
  const ask = defineTool({
    name: 'ask',
    description: 'Asks.',
    execute: (_args, { input, requestInput }) =>
      input ? 'thanks' : requestInput({ sure: { message: 'Sure?', schema: { type: 'object' } } }),
  });
  const driver = followingDriver([toolCall('ask'), final('done')]);
  const runtime = runtimeOn(memoryPlace().open(), builderWith(driver, ask).build());
  await runtime.create({ ...ann, id: 's' });
  const paused = await runtime.send('s', 'go', waiting);
  const before = await traceOn(runtime);
  expect(before.stop?.explanation.headline).toContain('ask needs an answer');
  expect(before.steps.at(-1)).toMatchObject({
    type: 'waiting',
    bars: [{ kind: 'model' }, { name: 'ask', state: 'waiting', asks: true }],
  });
  const [question] = paused.pendingInputs;
  const answer = { action: 'accept', content: {} } as const;
  await runtime.answer('s', question!.inputId, { ...waiting, answer });
  const after = await traceOn(runtime);
  const [, bar] = after.steps[0]!.bars;
  expect(bar).toMatchObject({ name: 'ask', state: 'ok', answer: null });
  expect(bar?.pausedMs).toBeGreaterThan(0);
  expect(bar).not.toHaveProperty('asks');
});
