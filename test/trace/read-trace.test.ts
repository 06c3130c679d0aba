import { defineTool, ErrorPolicy } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { readTrace, type Trace } from '../../src/trace/index.ts';
import {
  agentWith,
  ann,
  builderWith,
  followingDriver,
  gate,
  memoryPlace,
  pause,
  runtimeOn,
  sqlitePlace,
  until,
  waiting,
} from '../setup/sessions.ts';
import { traceOn } from './sound-trace.ts';

const { toolCall, toolCalls, final, error } = ScenarioStep;

const grantOf = ({ stop }: Trace) => {
  if (stop?.action?.kind !== 'grant') throw new Error('no grant is offered');
  return stop.action.grant;
};

describe('the trace of a real session in SQLite', () => {
  it('covers a running step, a retry, an approval, a limit and a grant', async () => {
    const slow = gate();
    let tries = 0;
    const enrich = defineTool({
      name: 'enrich',
      description: 'Fails the first time.',
      execute: () => {
        tries += 1;
        if (tries === 1) throw new Error('upstream is down');
        return 'enriched';
      },
    });
    const look = defineTool({
      name: 'look',
      description: 'Waits for the gate.',
      execute: async () => {
        await slow.passed;
        return 'seen';
      },
    });
    const remove = defineTool({
      name: 'remove',
      description: 'Needs approval.',
      parameters: { type: 'object', properties: { id: { type: 'number' } } },
      needsApproval: true,
      execute: () => 'removed',
    });
    const driver = followingDriver([
      toolCalls([{ name: 'look' }, { name: 'enrich' }], 'Let me see.', {
        usage: { input: 100, output: 10 },
        cost: 0.01,
      }),
      toolCall('enrich', {}, '', { usage: { input: 200, output: 20 }, cost: 0.02 }),
      toolCall('remove', { id: 7 }, '', { usage: { input: 300, output: 30 }, cost: 0.03 }),
      final('All done.', { usage: { input: 400, output: 40 }, cost: 0.04 }),
    ]);
    const agent = builderWith(driver, look, enrich, remove)
      .withMaxSteps(3)
      .withMaxCost(1)
      .withErrorPolicy(ErrorPolicy.retryToolErrors(2))
      .build();
    const runtime = runtimeOn(sqlitePlace().open(), agent);
    await runtime.create({ ...ann, id: 's' });
    expect(await traceOn(runtime)).toMatchObject({ executionId: null, status: 'idle', steps: [] });

    await runtime.send('s', 'go', { ...ann, executionId: 'first' });
    const running = await until(async () => {
      const trace = await traceOn(runtime);
      return trace.steps[0]?.bars[2]?.state === 'error' ? trace : null;
    });
    expect(running).toMatchObject({
      executionId: 'first',
      status: 'processing',
      stop: null,
      steps: [{ number: 1, type: 'running', outcome: null, inputTokens: 100, cost: 0.01 }],
    });
    expect(running.steps[0]?.bars).toMatchObject([
      { kind: 'model', state: 'ok' },
      { name: 'look', state: 'running' },
      { name: 'enrich', state: 'error', error: 'upstream is down' },
    ]);

    slow.open();
    const asked = await runtime.wait('s', ann);
    const [call] = asked.pendingApprovals;
    const waits = await traceOn(runtime);
    expect(waits).toMatchObject({
      status: 'paused',
      pauses: [{ step: 3, kind: 'approval', durationMs: null }],
      totals: { steps: { used: 2, limit: 3 } },
      stop: { lead: 'Waiting because', because: 'remove needs approval', action: null },
    });
    expect(waits.steps.map(({ type }) => type)).toEqual(['tool_calls', 'tool_calls', 'waiting']);
    expect(waits.steps[1]?.bars[1]).toMatchObject({ state: 'ok', retry: { number: 1, limit: 2 } });
    expect(waits.steps[2]).toMatchObject({ inputTokens: 300, cost: 0.03 });
    expect(waits.steps[2]?.bars[1]).toMatchObject({ name: 'remove', state: 'waiting' });

    await pause(60);
    await runtime.approve('s', call!.callId, { ...waiting, args: { id: 8 } });
    const stopped = await traceOn(runtime);
    expect(stopped).toMatchObject({
      status: 'stopped',
      hasEarlier: false,
      grants: {},
      stop: {
        because: 'it used 3 of 3 steps before the model read a tool result',
        action: { label: 'Continue with 3 more steps' },
      },
      totals: {
        steps: { used: 3, limit: 3 },
        tokens: { used: 660, limit: null },
        cost: { limit: 1 },
        failedCalls: 0,
      },
    });
    const removed = stopped.steps[2]?.bars[1];
    expect(removed).toMatchObject({ state: 'ok', answer: 'edited' });
    expect(removed?.pausedMs).toBeGreaterThanOrEqual(50);
    expect(stopped.pauses).toHaveLength(1);
    expect(stopped.totals.pausedMs).toBeGreaterThanOrEqual(50);
    // the wait is not counted as work
    const passed = Date.now() - Date.parse(stopped.steps[2]!.startedAt);
    expect(stopped.steps[2]!.durationMs).toBeLessThan(passed - 50);

    await runtime.resume('s', { ...waiting, grant: grantOf(stopped) });
    const granted = await traceOn(runtime);
    expect(granted).toMatchObject({
      status: 'completed',
      grants: { steps: 3 },
      totals: { steps: { used: 4, limit: 6 } },
      stop: { lead: 'Finished because', action: null },
      executions: [{ id: 'first', stepCount: 4 }],
    });
    expect(granted.pauses.map(({ kind }) => kind)).toEqual(['approval', 'grant']);
    expect(granted.steps[3]).toMatchObject({ type: 'final', costSoFar: 0.1 });
    expect(granted.totals.cost.used).toBeCloseTo(0.1);
    expect(granted.startedAt! <= granted.steps[0]!.startedAt).toBe(true);
  });

  it('a failed model call has its wait on the axis and does not count toward the step limit', async () => {
    const script = [error({ type: 'rate_limit', retryAfterMs: 300 }), final('ok')];
    // scripted by calls, because a failed call leaves no message
    const agent = builderWith(DeterministicDriver.fromSteps(...script))
      .withErrorPolicy(ErrorPolicy.retryToolErrors(2))
      .build();
    const runtime = runtimeOn(sqlitePlace().open(), agent);
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    const trace = await traceOn(runtime);
    expect(trace.steps).toMatchObject([
      { type: 'error', attempt: 1, bars: [{ state: 'error' }] },
      { type: 'final', attempt: 2 },
    ]);
    expect(trace.steps[0]!.waitMs).toBeGreaterThan(20);
    expect(trace.totals).toMatchObject({ failedCalls: 1, steps: { used: 1 } });
    expect(trace.totals.backoffMs).toBe(trace.steps[0]!.waitMs);
  });
});

it('D43: a trace contains no secret', async () => {
  const secret = 'sk-live-abcdefghijklmnop1234567890';
  const runtime = runtimeOn(
    memoryPlace().open(),
    agentWith(
      [toolCall('leak', { key: secret }), final(`It is ${secret}`)],
      defineTool({
        name: 'leak',
        description: 'Leaks.',
        parameters: { type: 'object' },
        execute: () => {
          throw new Error(`cannot use ${secret}`);
        },
      }),
    ),
  );
  await runtime.create({ ...ann, id: 's', metadata: { title: `About ${secret}` } });
  await runtime.send('s', `Use ${secret}`, waiting);
  expect(JSON.stringify(await readTrace(runtime, 's', ann))).not.toContain(secret);
});
