import { AgentBuilder, ErrorPolicy, type AgentEvent, type AgentState } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { guardedAgent, never, Trap } from './setup/abort-trap.ts';
import { takesAnotherTurn } from './setup/states.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

const places = [
  'before execution',
  'before step',
  'before model call',
  'model 1',
  'after model call',
  'validation',
  'needsApproval',
  'before tool call',
  'tool simple',
  'tool checked',
  'tool asked',
  'child model 1',
  'child tool',
  'child model 2',
  'after tool call',
  'after step',
  'model 2',
  'model 3',
  'response format',
];
const streamPlaces = ['model 1 chunk 1', 'model 1 chunk 2', 'model 3 chunk 1', 'model 3 chunk 2'];

describe('D46: abort at every await point', () => {
  it('a run without an abort reaches every listed await point', async () => {
    const trap = new Trap('nowhere', 'continues');
    const agent = guardedAgent(trap);
    const state = await agent.run('go', { signal: trap.controller.signal, wiretap: () => {} });
    expect(state).toMatchObject({ status: 'completed', output: { ok: true } });
    const seen = new Set(trap.reached);
    expect([...places, ...streamPlaces, 'after execution'].filter((p) => !seen.has(p))).toEqual([]);
  });

  const rows = (['hangs', 'continues', 'throws'] as const).flatMap((then) => [
    ...places.map((place) => [place, then, false] as const),
    ...[...places, ...streamPlaces].map((place) => [place, then, true] as const),
  ]);

  it.each(rows)('%s, then the code %s (streamed: %s)', async (place, then, streamed) => {
    const trap = new Trap(place, then);
    const agent = guardedAgent(trap);
    const events: AgentEvent[] = [];
    const state = await agent.run('go', {
      signal: trap.controller.signal,
      ...(streamed ? { wiretap: (e: AgentEvent) => void events.push(e) } : null),
    });
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested', output: null });
    expect(state.lastContinuationOutcome?.decisive).toMatchObject({
      criterion: 'StopRequestCheck',
      reason: 'enough',
    });
    expect(state.unfinishedStep).toBeNull();
    for (const step of state.steps) {
      expect(step.results.map(({ callId }) => callId)).toEqual(step.toolCalls.map(({ id }) => id));
      for (const { kind } of step.results) expect(['ok', 'aborted']).toContain(kind);
    }
    if (streamed) {
      const ends = new Set(['AgentFinished', 'AgentFailed', 'AgentPaused']);
      const last = events.filter((e) => ends.has(e.type) && e.parentAgentId === null);
      expect(last).toMatchObject([{ type: 'AgentFinished', stopReason: 'user_requested' }]);
    }
    await takesAnotherTurn(state);
    // nothing new starts; only the after hooks of work that had started may run
    expect(trap.late.filter((p) => !p.startsWith('after '))).toEqual([]);
  });

  it.each(['hangs', 'continues', 'throws'] as const)(
    'after execution: the run stays completed when the hook %s',
    async (then) => {
      const trap = new Trap('after execution', then);
      const state = await guardedAgent(trap).run('go', { signal: trap.controller.signal });
      expect(state).toMatchObject({ status: 'completed', output: { ok: true } });
      await takesAnotherTurn(state);
    },
  );

  it('stops cleanly when a listener aborts at any event', async () => {
    const count = async (at: number): Promise<AgentState | number> => {
      const trap = new Trap('nowhere', 'continues');
      let events = 0;
      const state = await guardedAgent(trap).run('go', {
        signal: trap.controller.signal,
        wiretap: () => {
          if (++events === at) trap.controller.abort();
        },
      });
      if (at === 0) return events;
      return state;
    };
    const all = (await count(0)) as number;
    expect(all).toBeGreaterThan(40);
    for (let at = 1; at <= all; at++) {
      const state = (await count(at)) as AgentState;
      expect(['completed', 'stopped']).toContain(state.status);
      expect(state.messages.pairingProblem()).toBeNull();
      expect(state.unfinishedStep).toBeNull();
      if (state.status === 'stopped') expect(state.stopReason).toBe('user_requested');
      // only the last events come too late for a stop
      else expect(at).toBeGreaterThan(all - 6);
    }
  });
});

describe('D50: an abort overrides every hook', () => {
  it.each(['hangs', 'continues', 'throws'] as const)(
    'does not run the tool when a pending hook before it %s after the abort',
    async (then) => {
      const trap = new Trap('before tool call', then);
      const state = await guardedAgent(trap).run('go', { signal: trap.controller.signal });
      expect(trap.reached.filter((p) => p.startsWith('tool '))).toEqual([]);
      expect(state.steps.at(-1)!.results.map(({ kind }) => kind)).toEqual(Array(4).fill('aborted'));
    },
  );

  it('a hook cannot turn an aborted run into a success', async () => {
    const controller = new AbortController();
    const ran = mockTool('pay', 'paid');
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('pay')))
      .withTools(ran)
      .withHooks({
        name: 'optimist',
        aroundExecution: async (input, next) =>
          (await next(input).catch(() => null)) ?? input.state,
        aroundToolCall: async () => {
          controller.abort();
          return 'all is well';
        },
      })
      .build();
    const state = await agent.run('go', { signal: controller.signal });
    expect(ran.calls).toEqual([]);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(state.steps.at(-1)!.results).toMatchObject([{ kind: 'aborted' }]);
    await takesAnotherTurn(state);
  });
});

describe('tools in an aborted run', () => {
  it('keeps finished results and closes the other calls in call order', async () => {
    const controller = new AbortController();
    const agent = AgentBuilder.base()
      .withDriver(
        DeterministicDriver.fromSteps(
          toolCalls([{ name: 'slow' }, { name: 'quick' }, { name: 'slow' }]),
        ),
      )
      .withTools(
        mockTool('quick', () => {
          setTimeout(() => controller.abort('enough'), 1);
          return 'done';
        }),
        mockTool('slow', () => never),
      )
      .build();
    const state = await agent.run('go', { signal: controller.signal });
    const step = state.steps.at(-1)!;
    expect(step.type).toBe('cut');
    expect(step.results.map(({ kind, value }) => [kind, value])).toEqual([
      ['aborted', 'Not finished: enough.'],
      ['ok', 'done'],
      ['aborted', 'Not finished: enough.'],
    ]);
    expect(step.errors).toEqual([]);
    expect(state.execution).toMatchObject({ consecutiveFailures: 0, answeredSteps: 0 });
    expect(state.messages.withRole('tool').map(({ toolCallId }) => toolCallId)).toEqual([
      'call_1',
      'call_2',
      'call_3',
    ]);
    await takesAnotherTurn(state);
  });

  it('does not start calls that are queued behind the limit of eight', async () => {
    const controller = new AbortController();
    let begun = 0;
    const work = mockTool('work', () => {
      if (++begun === 8) setTimeout(() => controller.abort(), 1);
      return never;
    });
    const calls = Array.from({ length: 12 }, () => ({ name: 'work' }));
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCalls(calls)))
      .withTools(work)
      .build();
    const state = await agent.run('go', { signal: controller.signal });
    expect(work.calls).toHaveLength(8);
    expect(state.steps.at(-1)!.results.map(({ kind }) => kind)).toEqual(Array(12).fill('aborted'));
    await takesAnotherTurn(state);
  });
});

describe('abort between two retries', () => {
  it('ends the wait and records the time waited', async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const driver = DeterministicDriver.fromSteps(
      ScenarioStep.error({ type: 'rate_limit', message: 'slow down', retryAfterMs: 30_000 }),
      final('too late'),
    );
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withErrorPolicy(ErrorPolicy.retryToolErrors())
      .withClock(clock)
      .build();
    const running = agent.run('go', { signal: controller.signal });
    await clock.advance(10_000);
    controller.abort('enough');
    const state = await running;
    expect(driver.requests).toHaveLength(1);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect([...state.steps].map(({ type, waitedMs }) => [type, waitedMs])).toEqual([
      ['error', undefined],
      ['cut', 10_000],
    ]);
    expect(state.execution.cumulativeSeconds).toBe(10);
    expect(clock.pendingTimers).toBe(0);
    await takesAnotherTurn(state);
  });
});

describe('before the run starts', () => {
  it('makes no model call when the signal is already aborted', async () => {
    const driver = DeterministicDriver.fromSteps(final('x'));
    const agent = AgentBuilder.base().withDriver(driver).build();
    const state = await agent.run('go', { signal: AbortSignal.abort('changed my mind') });
    expect(driver.requests).toHaveLength(0);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested', stepCount: 0 });
    expect(state.lastContinuationOutcome?.decisive?.reason).toBe('changed my mind');
    expect(state.messages.length).toBe(1);
    await takesAnotherTurn(state);
  });

  it('removes its listener from the signal when the run ends', async () => {
    const listeners = new Set<unknown>();
    const { signal } = new AbortController();
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = function (type: string, fn: never, options?: never) {
      listeners.add(fn);
      addEventListener.call(this, type, fn, options);
    };
    signal.removeEventListener = function (type: string, fn: never) {
      listeners.delete(fn);
      removeEventListener.call(this, type, fn);
    };
    const agent = () =>
      AgentBuilder.base().withDriver(DeterministicDriver.fromResponses('hi')).build();
    await agent().run('go', { signal });
    await agent().stream('go', { signal }).state;
    await Promise.resolve();
    await Promise.resolve();
    expect(listeners.size).toBe(0);
  });
});
