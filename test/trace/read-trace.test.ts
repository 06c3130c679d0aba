import { defineTool, ErrorPolicy, type Session, type SessionRuntime } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { readTrace, type Trace } from '../../src/trace/index.ts';
import {
  agentWith,
  ann,
  builderWith,
  codeOf,
  followingDriver,
  gate,
  memoryPlace,
  pause,
  places,
  runtimeOn,
  sqlitePlace,
  until,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, toolCalls, final, error } = ScenarioStep;

/** What must hold for every trace, whatever happened. */
function isSound(trace: Trace): Trace {
  let end = trace.steps[0]?.at ?? 0;
  let number = trace.steps[0]?.number ?? 1;
  for (const step of trace.steps) {
    expect(step.number).toBe(number++);
    expect(step.at).toBeGreaterThanOrEqual(end - 0.01);
    end = step.at + step.durationMs;
    for (const bar of step.bars) {
      expect(bar.at).toBeGreaterThanOrEqual(step.at - 0.01);
      expect(bar.at + bar.durationMs).toBeLessThanOrEqual(end + 0.01);
    }
  }
  const { seconds } = trace.totals;
  expect(Math.abs(end / 1000 - seconds.used)).toBeLessThan(0.02);
  return trace;
}

const traceOn = async (runtime: SessionRuntime, options = {}): Promise<Trace> =>
  isSound(await readTrace(runtime, 's', { ...ann, ...options }));

const grantOf = ({ stop }: Trace) => {
  if (stop?.action?.kind !== 'grant') throw new Error('no grant is offered');
  return stop.action.grant;
};

describe('a trace of a real session in SQLite', () => {
  it('gate, approval, retry, limit and grant', async () => {
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
      description: 'Wants a person.',
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
      stop: { lead: 'Waiting because', because: 'remove needs your approval', action: null },
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
        because: 'it used all 3 of its 3 steps while a tool result was still unread',
        action: { label: 'Grant 3 steps' },
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
    // the wait was not work
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

  it('a failed model call: its wait is on the axis, and it is no step of the limit', async () => {
    const script = [error({ type: 'rate_limit', retryAfterMs: 300 }), final('ok')];
    // counted by calls, not by messages: a failed one leaves none
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

describe.each(places)('pages and executions in %s', (_name, placed) => {
  const LONG = 130;
  const turns = (long: number) =>
    followingDriver(
      [final('one')],
      [...Array.from({ length: long - 1 }, (_, i) => toolCall('look', { i })), final('two')],
      [final('three')],
    );

  async function told(long: number = 3): Promise<SessionRuntime> {
    const agent = builderWith(turns(long), mockTool('look', 'seen')).withMaxSteps(1_000).build();
    const runtime = runtimeOn(placed().open(), agent, { maxMessages: 1_000 });
    await runtime.create({ ...ann, id: 's' });
    for (const executionId of ['a', 'b', 'c'])
      await runtime.send('s', 'go', { ...waiting, executionId });
    return runtime;
  }

  it('shows the newest execution, lists all, finds an older one page by page', async () => {
    const runtime = await told(LONG);
    const newest = await traceOn(runtime);
    expect(newest.executionId).toBe('c');
    expect(newest.executions.map(({ id, stepCount }) => [id, stepCount])).toEqual([
      ['a', 1],
      ['b', LONG],
      ['c', 1],
    ]);
    const last = await traceOn(runtime, { executionId: 'b', limit: 50 });
    expect(last).toMatchObject({ status: 'completed', hasEarlier: true, executionId: 'b' });
    const numbers = ({ steps }: Trace) => steps.map(({ number }) => number);
    expect(numbers(last)).toEqual(Array.from({ length: 50 }, (_, i) => LONG - 49 + i));
    const pages: number[] = [];
    let before: number | undefined;
    let end = Number.POSITIVE_INFINITY;
    do {
      const page = await readTrace(runtime, 's', {
        ...ann,
        executionId: 'b',
        limit: 50,
        ...(before !== undefined && { before }),
      });
      expect(page).toMatchObject({ status: 'completed', totals: { steps: { used: LONG } } });
      const tail = page.steps.at(-1)!;
      // one axis for all pages
      expect(tail.at + tail.durationMs).toBeLessThanOrEqual(end + 0.01);
      end = page.steps[0]!.at;
      pages.unshift(...numbers(page));
      before = page.steps[0]!.number;
      if (!page.hasEarlier) break;
    } while (pages.length < 1_000);
    expect(pages).toEqual(Array.from({ length: LONG }, (_, i) => i + 1));
    expect(end).toBeLessThan(0.01);
  });

  it('the log goes with the page: tools begin after their model', async () => {
    const runtime = await told(60);
    const { events } = await runtime.events('s', { ...ann, executionId: 'b', limit: 500 });
    const starts = new Map(
      events.flatMap(({ event }) =>
        event.type === 'ToolCallStarted' ? [[event.toolCallId, Date.parse(event.at)]] : [],
      ),
    );
    const trace = await readTrace(runtime, 's', { ...ann, executionId: 'b', before: 40, limit: 9 });
    expect(trace.steps.map(({ number }) => number)).toEqual([31, 32, 33, 34, 35, 36, 37, 38, 39]);
    for (const { startedAt, at, durationMs, bars } of trace.steps) {
      const [model, tool] = bars;
      // the log is written in whole milliseconds
      const started = starts.get(tool!.callId!)! - Date.parse(startedAt);
      const expected = Math.min(started, durationMs - tool!.durationMs);
      expect(model!.durationMs).toBeCloseTo(expected, 3);
      expect(tool!.at - at).toBeCloseTo(expected, 3);
    }
  });

  it('refuses an execution that is not there, and what is no page', async () => {
    const runtime = await told();
    expect(await codeOf(() => readTrace(runtime, 's', { ...ann, executionId: 'x' }))).toBe(
      'invalid_option',
    );
    expect(await codeOf(() => readTrace(runtime, 's', { ...ann, limit: 0 }))).toBe(
      'invalid_option',
    );
    expect(await codeOf(() => readTrace(runtime, 's', { ...ann, before: -1 }))).toBe(
      'invalid_option',
    );
    expect(await codeOf(() => readTrace(runtime, 's', { owner: 'bob' }))).toBe('session_not_found');
  });

  it('is drawn from the steps alone when the log was pruned', async () => {
    const runtime = await told();
    await runtime.prune({ olderThan: new Date(Date.now() + 60_000) });
    const trace = await traceOn(runtime);
    expect(trace).toMatchObject({ executionId: 'c', status: 'completed', steps: [{ number: 1 }] });
    expect(trace.executions.map(({ id }) => id)).toEqual(['c']);
  });
});

it('a fork goes on with the steps of its source, under an execution of its own', async () => {
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

it('the time between the death of a process and its recovery is a mark, and no work', async () => {
  const place = memoryPlace();
  const never = new Promise<never>(() => {});
  const make = (isDying: boolean) =>
    builderWith(
      followingDriver([toolCall('look'), final('done')]),
      mockTool('look', () => (isDying ? never : 'seen'), { idempotent: true }),
    ).build();
  const store = place.open();
  // dies without a word
  const dying = { ...store, renew: () => never, signals: () => never };
  const lease = { leaseMs: 60, heartbeatMs: 20, signalMs: 20 };
  const first = runtimeOn(dying, make(true), { lease });
  await first.create({ ...ann, id: 's' });
  await first.send('s', 'go', ann);
  const second = runtimeOn(place.open(), make(false), { lease });
  await until(async () => (await traceOn(second)).steps[0]?.bars[1]?.state === 'running');
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

it('an agent behind a call waits: the root step waits, and its bar knows for how long', async () => {
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

it('D43: no secret in a trace', async () => {
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
