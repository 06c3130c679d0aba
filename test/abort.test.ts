import {
  AgentBuilder,
  AgentState,
  defineTool,
  ErrorPolicy,
  pairingProblem,
  type AgentEvent,
  type Hook,
  type InferenceChunk,
  type InferenceDriver,
  type StandardSchema,
} from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { takesAnotherTurn } from './setup/states.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const never = new Promise<never>(() => {});

type Then = 'hangs' | 'goes on' | 'throws';

/** A place in the run where an abort strikes, and what the code there does about it. */
class Trap {
  readonly controller = new AbortController();
  readonly reached: string[] = [];
  /** Places that were reached after the abort. */
  readonly late: string[] = [];
  readonly #at: string;
  readonly #then: Then;

  constructor(at: string, then: Then) {
    this.#at = at;
    this.#then = then;
  }

  async reach(place: string): Promise<void> {
    this.reached.push(place);
    if (this.controller.signal.aborted) this.late.push(place);
    if (place !== this.#at) return;
    this.controller.abort('enough');
    if (this.#then === 'hangs') await never;
    if (this.#then === 'throws') throw new Error('aborted, says the code in there');
    // long enough for whatever is in line behind it
    for (let i = 0; i < 20; i++) await Promise.resolve();
  }
}

const slowSchema = (wait: () => Promise<void>): StandardSchema => ({
  '~standard': {
    vendor: 'own',
    validate: async (value) => {
      await wait();
      return { value };
    },
  },
});

const guardedDriver = (trap: Trap, name: string, driver: DeterministicDriver): InferenceDriver => {
  let calls = 0;
  return {
    name,
    async infer(request, options) {
      const call = ++calls;
      await trap.reach(`${name} ${call}`);
      return driver.infer(request, options);
    },
    async *stream(request, options) {
      const call = ++calls;
      let chunks = 0;
      await trap.reach(`${name} ${call}`);
      for await (const chunk of driver.stream(request, options)) {
        yield chunk;
        if (chunk.type !== 'done') await trap.reach(`${name} ${call} chunk ${++chunks}`);
      }
    },
  };
};

/** An agent with something to await at every place where a run can wait. */
function guardedAgent(trap: Trap) {
  const simple = defineTool({
    name: 'simple',
    description: 'Simple.',
    execute: async () => {
      await trap.reach('tool simple');
      return 'ok';
    },
  });
  const checked = defineTool({
    name: 'checked',
    description: 'Checks its arguments slowly.',
    parameters: slowSchema(() => trap.reach('validation')),
    jsonSchema: { type: 'object' },
    execute: async () => {
      await trap.reach('tool checked');
      return 'ok';
    },
  });
  const asked = defineTool({
    name: 'asked',
    description: 'Asks itself whether a person has to be asked.',
    needsApproval: async () => {
      await trap.reach('needsApproval');
      return false;
    },
    execute: async () => {
      await trap.reach('tool asked');
      return 'ok';
    },
  });
  const inner = defineTool({
    name: 'inner',
    description: 'A tool of the nested agent.',
    execute: async () => {
      await trap.reach('child tool');
      return 'ok';
    },
  });
  const child = AgentBuilder.base()
    .withName('helper')
    .withDriver(
      guardedDriver(
        trap,
        'child model',
        DeterministicDriver.fromSteps(toolCall('inner'), final('helped')),
      ),
    )
    .withTools(inner)
    .build();
  const around =
    (place: string) =>
    async <I, O>(input: I, next: (input: I) => Promise<O>): Promise<O> => {
      await trap.reach(`before ${place}`);
      const output = await next(input);
      await trap.reach(`after ${place}`);
      return output;
    };
  const hook: Hook = {
    name: 'watch',
    aroundExecution: around('execution'),
    aroundStep: around('step'),
    aroundModelCall: around('model call'),
    aroundToolCall: around('tool call'),
  };
  return AgentBuilder.base()
    .withName('support')
    .withDriver(
      guardedDriver(
        trap,
        'model',
        DeterministicDriver.fromSteps(
          toolCalls(
            [
              { name: 'simple' },
              { name: 'checked', args: { n: 1 } },
              { name: 'asked' },
              { name: 'help', args: { input: 'please' } },
            ],
            'Looking.',
          ),
          ScenarioStep.error({ type: 'timeout', message: 'gateway' }),
          final('{"ok":true}'),
        ),
      ),
    )
    .withTools(simple, checked, asked, child.asTool({ name: 'help', description: 'Helps.' }))
    .withErrorPolicy(ErrorPolicy.retryToolErrors(3).withBackoff({ initialMs: 1, maxMs: 1 }))
    .withResponseFormat(
      Object.assign(
        slowSchema(() => trap.reach('response format')),
        { toJsonSchema: () => ({ type: 'object' }) },
      ),
    )
    .withHooks(hook)
    .build();
}

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
  it('the places are all on the way of an undisturbed run', async () => {
    const trap = new Trap('nowhere', 'goes on');
    const agent = guardedAgent(trap);
    const state = await agent.run('go', { signal: trap.controller.signal, wiretap: () => {} });
    expect(state).toMatchObject({ status: 'completed', output: { ok: true } });
    const seen = new Set(trap.reached);
    expect([...places, ...streamPlaces, 'after execution'].filter((p) => !seen.has(p))).toEqual([]);
  });

  const rows = (['hangs', 'goes on', 'throws'] as const).flatMap((then) => [
    ...places.map((place) => [place, then, false] as const),
    ...[...places, ...streamPlaces].map((place) => [place, then, true] as const),
  ]);

  it.each(rows)('%s, where the code %s (streamed: %s)', async (place, then, streamed) => {
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
    // nothing begins any more; only the code around what had begun may go on
    expect(trap.late.filter((p) => !p.startsWith('after '))).toEqual([]);
  });

  it.each(['hangs', 'goes on', 'throws'] as const)(
    'after execution, where the hook %s: what was completed stays so',
    async (then) => {
      const trap = new Trap('after execution', then);
      const state = await guardedAgent(trap).run('go', { signal: trap.controller.signal });
      expect(state).toMatchObject({ status: 'completed', output: { ok: true } });
      await takesAnotherTurn(state);
    },
  );

  it('abort from a listener, at every event', async () => {
    const count = async (at: number): Promise<AgentState | number> => {
      const trap = new Trap('nowhere', 'goes on');
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
      expect(pairingProblem(state.messages)).toBeNull();
      expect(state.unfinishedStep).toBeNull();
      if (state.status === 'stopped') expect(state.stopReason).toBe('user_requested');
      // only the very last words come too late for a stop
      else expect(at).toBeGreaterThan(all - 6);
    }
  });
});

describe('D50: abort wins over every hook', () => {
  it.each(['hangs', 'goes on', 'throws'] as const)(
    'while a hook before a tool is pending and then %s: the tool does not run',
    async (then) => {
      const trap = new Trap('before tool call', then);
      const state = await guardedAgent(trap).run('go', { signal: trap.controller.signal });
      expect(trap.reached.filter((p) => p.startsWith('tool '))).toEqual([]);
      expect(state.steps.at(-1)!.results.map(({ kind }) => kind)).toEqual(Array(4).fill('aborted'));
    },
  );

  it('a hook that would turn the abort into a success has no say', async () => {
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

describe('D45: what was shown is what is stored', () => {
  const texts = {
    prose: ['The ', 'lamp ', 'is ', 'in ', 'stock.'],
    'something that begins like JSON': ['{"la', 'mp":', ' 7}', ' is what', ' we have'],
    'a fence': ['```', 'js\n', 'const', ' a = 1', '\n```'],
    'a character in two halves': ['😀'.slice(0, 1), '😀'.slice(1), ' ok', '!', '!'],
  };
  const rows = Object.entries(texts).flatMap(([name, chunks]) =>
    chunks.map((_chunk, k) => [name, k, chunks] as const),
  );

  it.each(rows)('%s, abort after %i chunks', async (_name, k, chunks) => {
    const controller = new AbortController();
    let shown = '';
    const driver: InferenceDriver = {
      name: 'stubborn',
      infer: () => never,
      async *stream() {
        for (const [i, text] of chunks.entries()) {
          if (i === k) controller.abort('enough');
          yield { type: 'content', text };
        }
        yield {
          type: 'done',
          response: { content: chunks.join(''), toolCalls: [], finishReason: 'stop', usage: null },
        };
      },
    };
    const agent = AgentBuilder.base().withDriver(driver).withTools(mockTool('search')).build();
    const ids = new Set<string>();
    const state = await agent.run('go', {
      signal: controller.signal,
      wiretap: (e) => {
        if (e.type !== 'StreamChunk') return;
        shown += e.content;
        ids.add(e.messageId);
      },
    });
    const stored = state.messages.withRole('assistant');
    expect(shown).toBe(chunks.slice(0, k).join(''));
    expect(stored.map(({ text }) => text)).toEqual(k === 0 ? [] : [shown]);
    expect(stored.map(({ id }) => id)).toEqual([...ids]);
    expect(state.outputText).toBe(shown);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(state.steps.at(-1)).toMatchObject({ type: 'cut', errors: [], finishReason: null });
    if (k > 0) expect(stored[0]?.metadata).toEqual({ cut: true });
    await takesAnotherTurn(state);
  });

  it('calls that had begun to arrive are dropped, words before them are kept', async () => {
    const controller = new AbortController();
    const driver: InferenceDriver = {
      name: 'stubborn',
      infer: () => never,
      async *stream() {
        yield { type: 'content', text: 'Let me see.' };
        yield { type: 'tool_call', index: 0, id: 'a', name: 'search', argsDelta: '{"q"' };
        controller.abort();
        await never;
      },
    };
    const search = mockTool('search');
    const agent = AgentBuilder.base().withDriver(driver).withTools(search).build();
    const state = await agent.run('go', { signal: controller.signal, wiretap: () => {} });
    expect(state.messages.last()).toMatchObject({ content: 'Let me see.', toolCalls: [] });
    expect(search.calls).toEqual([]);
    await takesAnotherTurn(state);
  });
});

describe('D47: usage of an aborted call', () => {
  const aborted = async (chunks: readonly InferenceChunk[], clean = true) => {
    const controller = new AbortController();
    const driver: InferenceDriver = {
      name: 'counting',
      infer: () => never,
      async *stream() {
        yield* chunks;
        if (clean) controller.abort();
        await never;
      },
    };
    const agent = AgentBuilder.base().withDriver(driver).build();
    return agent.run('go', { signal: controller.signal, wiretap: () => {} });
  };

  it('is kept where it was reported, and the last report counts', async () => {
    const state = await aborted([
      { type: 'usage', usage: { input: 100, output: 1 } },
      { type: 'content', text: 'Hi' },
      { type: 'usage', usage: { input: 100, output: 7 }, cost: 0.25 },
    ]);
    expect(state.usage).toMatchObject({ input: 100, output: 7, total: 107 });
    expect(state.cost).toBe(0.25);
    expect(state.info.usage.total).toBe(107);
    expect(state.steps.at(-1)!.notes).toEqual([]);
  });

  it('is noted as unknown where it was not', async () => {
    const state = await aborted([{ type: 'content', text: 'Hi' }]);
    expect(state.usage.total).toBe(0);
    expect(state.steps.at(-1)!.notes).toEqual(['usageUnknown']);
  });

  it('of steps that were finished before stays in the account', async () => {
    const controller = new AbortController();
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('search'), final('', { hangs: true })))
      .withTools(mockTool('search'))
      .build();
    agent.on('AgentStepStarted', ({ stepNumber }) => {
      if (stepNumber === 2) setTimeout(() => controller.abort(), 5);
    });
    const state = await agent.run('go', { signal: controller.signal });
    expect(state.usage.total).toBe(15);
    expect([...state.steps].map(({ type }) => type)).toEqual(['tool_calls', 'cut']);
    await takesAnotherTurn(state);
  });
});

describe('tools when the run is aborted', () => {
  it('those that ended keep their result, the others are sealed in call order', async () => {
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

  it('calls behind the cap of eight do not begin', async () => {
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

describe('between two tries', () => {
  it('an abort ends the wait, and what was waited is in the record', async () => {
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

describe('before anything began', () => {
  it('a signal that is aborted already: no model call, user_requested', async () => {
    const driver = DeterministicDriver.fromSteps(final('x'));
    const agent = AgentBuilder.base().withDriver(driver).build();
    const state = await agent.run('go', { signal: AbortSignal.abort('changed my mind') });
    expect(driver.requests).toHaveLength(0);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested', stepCount: 0 });
    expect(state.lastContinuationOutcome?.decisive?.reason).toBe('changed my mind');
    expect(state.messages.length).toBe(1);
    await takesAnotherTurn(state);
  });

  it('the listener on the signal is gone when the run is over', async () => {
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
    await agent().stream('go', { signal }).result;
    await Promise.resolve();
    await Promise.resolve();
    expect(listeners.size).toBe(0);
  });
});

describe('leaving a stream', () => {
  const agent = () =>
    AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('work', {}, 'Working.'), final('done')))
      .withTools(mockTool('work', () => new Promise((resolve) => setTimeout(resolve, 50, 'ok'))))
      .build();

  it.each(['AgentStarted', 'StreamChunk', 'ToolCallStarted'])(
    'at %s aborts the run, and result still resolves',
    async (type) => {
      const stream = agent().stream('go');
      for await (const event of stream) if (event.type === type) break;
      const state = await stream.result;
      expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
      expect(state.lastContinuationOutcome?.decisive?.reason).toBe('the reader of the stream left');
      await takesAnotherTurn(state);
    },
  );

  it('reading to the end aborts nothing', async () => {
    const stream = agent().stream('go');
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types.at(-1)).toBe('AgentFinished');
    expect(await stream.result).toMatchObject({ status: 'completed', output: 'done' });
  });

  it('not reading at all aborts nothing either', async () => {
    expect(await agent().stream('go').result).toMatchObject({ status: 'completed' });
  });

  it('the signal of the caller still counts', async () => {
    const controller = new AbortController();
    const stream = agent().stream('go', { signal: controller.signal });
    for await (const event of stream) if (event.type === 'ToolCallStarted') controller.abort('me');
    const state = await stream.result;
    expect(state.lastContinuationOutcome?.decisive?.reason).toBe('me');
  });

  it('misuse reaches the reader and the result', async () => {
    const stream = agent().stream(AgentState.empty());
    const read = async () => {
      for await (const _event of stream);
    };
    await expect(read()).rejects.toMatchObject({ code: 'no_new_message' });
    await expect(stream.result).rejects.toMatchObject({ code: 'no_new_message' });
  });
});

describe('leaving iterate', () => {
  const make = () => {
    const work = mockTool('work', 'ok');
    const driver = DeterministicDriver.fromSteps(
      toolCall('work', { n: 1 }),
      toolCall('work', { n: 2 }),
      final('done'),
    );
    return {
      work,
      driver,
      agent: AgentBuilder.base().withDriver(driver).withTools(work).build(),
    };
  };

  it('early pauses: nothing more is asked, and resume goes on from the last state', async () => {
    const { agent, work, driver } = make();
    const events: AgentEvent[] = [];
    let last: AgentState | undefined;
    for await (const state of agent.iterate('go', { wiretap: (e) => events.push(e) })) {
      last = state;
      break;
    }
    expect(driver.requests).toHaveLength(1);
    expect(last).toMatchObject({ status: 'in_progress', stepCount: 1 });
    expect(events.at(-1)).toMatchObject({ type: 'AgentPaused', kind: 'handover', stepCount: 1 });
    expect(pairingProblem(last!.messages)).toBeNull();
    const state = await agent.resume(JSON.parse(JSON.stringify(last)) as never);
    expect(state).toMatchObject({ status: 'completed', output: 'done', stepCount: 3 });
    expect(work.calls).toEqual([{ n: 1 }, { n: 2 }]);
    expect(state.execution.id).toBe(last!.execution.id);
    await takesAnotherTurn(state);
  });

  it('the next step waits for the reader', async () => {
    const { agent, driver } = make();
    const counts: number[] = [];
    for await (const state of agent.iterate('go')) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      counts.push(driver.requests.length, state.stepCount);
    }
    expect(counts).toEqual([1, 1, 2, 2, 3, 3]);
  });

  it('an abort ends it like any run', async () => {
    const { agent } = make();
    const controller = new AbortController();
    const states: AgentState[] = [];
    for await (const state of agent.iterate('go', { signal: controller.signal })) {
      states.push(state);
      controller.abort();
    }
    expect(states.at(-1)).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    await takesAnotherTurn(states.at(-1)!);
  });

  it('a run that ends before its first step still gives its state', async () => {
    const { agent } = make();
    const states: AgentState[] = [];
    for await (const state of agent.iterate('go', { signal: AbortSignal.abort() }))
      states.push(state);
    expect(states).toMatchObject([{ status: 'stopped', stopReason: 'user_requested' }]);
  });
});

describe('stop(state)', () => {
  const agent = () =>
    AgentBuilder.base()
      .withDriver(
        DeterministicDriver.fromSteps(
          toolCalls([{ name: 'look' }, { name: 'pay' }]),
          final('done'),
        ),
      )
      .withTools(mockTool('look', 'seen'), mockTool('pay', 'paid', { needsApproval: true }))
      .build();

  it('on a paused state seals the open calls and ends as user_requested', async () => {
    const paused = await agent().run('go');
    const events: AgentEvent[] = [];
    const state = agent().stop(JSON.parse(JSON.stringify(paused)) as never, {
      reason: 'closed by support',
      wiretap: (e) => events.push(e),
    });
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested', pause: null });
    expect(state.pendingApprovals).toEqual([]);
    expect(state.steps.at(-1)!.results.map(({ kind, value }) => [kind, value])).toEqual([
      ['ok', 'seen'],
      ['aborted', 'Not finished: closed by support.'],
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', stopReason: 'user_requested' });
    await takesAnotherTurn(state);
  });

  it('between steps needs nothing sealed', async () => {
    const one = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('look'), final('done')))
      .withTools(mockTool('look', 'seen'))
      .build();
    const open = await one.nextStep('go');
    const types: string[] = [];
    const state = one.stop(open, { wiretap: ({ type }) => types.push(type) });
    expect(types).toEqual(['ContinuationEvaluated', 'AgentFinished']);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested', stepCount: 1 });
    expect(state.lastContinuationOutcome?.decisive?.reason).toBe('a stop was requested');
    await takesAnotherTurn(state);
  });

  it('leaves an ended state as it is', async () => {
    const one = AgentBuilder.base().withDriver(DeterministicDriver.fromResponses('hi')).build();
    const done = await one.run('go');
    expect(one.stop(done)).toBe(done);
  });
});

describe('the deadline', () => {
  it('cuts a hanging model call as time_limit, not as an error', async () => {
    const clock = fakeClock();
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(final('', { hangs: true })))
      .withTimeout({ seconds: 10 })
      .withClock(clock)
      .build();
    const running = agent.run('go');
    await clock.advance(10_000);
    const state = await running;
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect(state.steps.at(-1)).toMatchObject({ type: 'cut', errors: [], durationMs: 10_000 });
    expect(clock.pendingTimers).toBe(0);
    await takesAnotherTurn(state);
  });

  it('seals hanging tools with timeout', async () => {
    const clock = fakeClock();
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCalls([{ name: 'quick' }, { name: 'hung' }])))
      .withTools(
        mockTool('quick', 'ok'),
        mockTool('hung', () => never),
      )
      .withTimeout({ seconds: 10 })
      .withClock(clock)
      .build();
    const running = agent.run('go');
    await clock.advance(10_000);
    const state = await running;
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect(state.steps.at(-1)!.results).toMatchObject([
      { kind: 'ok', value: 'ok' },
      { kind: 'timeout', value: 'Not finished: the time limit was reached.' },
    ]);
    expect(state.steps.at(-1)!.errors).toEqual([]);
    await takesAnotherTurn(state);
  });
});
