import { AgentState, ErrorPolicy, statusFacts, type AgentEvent } from 'onward';
import {
  AgentEventEnvelopeAdapter,
  BroadcastConfig,
  memoryBroadcaster,
  type Envelope,
} from 'onward/broadcasting';
import { fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  asked,
  EXECUTION,
  isUnbroken,
  Live,
  numbered,
  ofType,
  plain,
  presets,
  scripted,
  SESSION,
} from './live-run.ts';

const { toolCall, toolCalls, final, stream, error } = ScenarioStep;
const pay = () => mockTool('pay', 'paid', { needsApproval: true });

function adapterOn(
  options: { executionId?: string; after?: number; config?: BroadcastConfig } = {},
) {
  const broadcaster = memoryBroadcaster();
  const adapter = new AgentEventEnvelopeAdapter({
    broadcaster,
    sessionId: SESSION,
    executionId: EXECUTION,
    ...options,
  });
  const sent = async (): Promise<readonly Envelope[]> => {
    await adapter.flush();
    return broadcaster.envelopes();
  };
  return { adapter, sent, tap: adapter.wiretap(), broadcaster };
}

const ends = (envelopes: readonly Envelope[]): string[] =>
  ofType(envelopes, 'agent.status').map(({ payload }) => payload.status);

describe('whose events', () => {
  it('two concurrent runs of one agent with two adapters: nothing crosses', async () => {
    const look = mockTool('look', async ({ of }: { of: string }) => `seen by ${of}`);
    // both runs take from one script: each gets some of it
    const steps = ['a', 'b', 'a', 'b'].map((of) => toolCall('look', { of }));
    const agent = scripted([...steps, final('x'), final('y')], [look]).build();
    const [a, b] = [adapterOn({ executionId: 'a' }), adapterOn({ executionId: 'b' })];
    agent.wiretap(a.tap);
    agent.wiretap(b.tap);
    await Promise.all(['a', 'b'].map((executionId) => agent.run(asked(), { executionId })));
    for (const [{ sent, adapter }, id] of [
      [a, 'a'],
      [b, 'b'],
    ] as const) {
      const envelopes = await sent();
      expect(new Set(envelopes.map(({ execution_id }) => execution_id))).toEqual(new Set([id]));
      expect(new Set(envelopes.map(({ agent_id }) => agent_id)).size).toBe(1);
      expect(ends(envelopes)).toEqual(['processing', 'completed']);
      isUnbroken(envelopes);
      expect(adapter.seq).toBeGreaterThan(10);
    }
  });

  it('an agent and its run may both be tapped: each event is sent once', async () => {
    const inner = scripted([toolCall('look'), final('in')], [mockTool('look')]).withName('inner');
    const nested = inner.build();
    const ask = nested.asTool({ name: 'ask', description: 'Asks.' });
    const agent = scripted([toolCall('ask', { input: 'x' }), final('out')], [ask]).build();
    const once = adapterOn();
    const twice = adapterOn();
    agent.wiretap(twice.tap);
    nested.wiretap(twice.tap);
    agent.wiretap(once.tap);
    await agent.run(asked(), { executionId: EXECUTION, wiretap: twice.tap });
    expect(await twice.sent()).toEqual(await once.sent());
    expect(twice.adapter.seq).toBe(once.adapter.seq);
  });

  it('a nested agent does not end its parent, whether it ends, fails or pauses', async () => {
    const nested = (steps: ScenarioStep[]) =>
      scripted(steps, [pay()]).withName('inner').build().asTool({ name: 'ask', description: 'A.' });
    for (const [steps, status] of [
      [[final('in')], 'completed'],
      [[error('down')], 'completed'],
      [[toolCall('pay')], 'paused'],
    ] as const) {
      const live = new Live();
      const script = [toolCall('ask', { input: 'x' }), final('out')];
      const agent = scripted(script, [nested([...steps])])
        .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
        .build();
      const state = await live.run(agent, asked());
      for (const preset of presets) {
        expect(ends(live.of(preset))).toEqual(['processing', status]);
        for (const status of ofType(live.of(preset), 'agent.status')) {
          expect(status.agent_id).toBe(state.agentId);
          expect(status).not.toHaveProperty('parent_agent_id');
        }
      }
      const inner = live.of('debug').filter((e) => e.parent_agent_id !== undefined);
      expect(inner.length).toBeGreaterThan(1);
      for (const envelope of inner) {
        expect(envelope).toMatchObject({
          session_id: SESSION,
          execution_id: EXECUTION,
          parent_agent_id: state.agentId,
        });
        expect(envelope.agent_id).not.toBe(state.agentId);
      }
    }
  });

  it.each([
    [{ sessionId: '' }, 'AgentEventEnvelopeAdapter sessionId got "", expected an id.'],
    [{ executionId: undefined }, 'executionId got undefined'],
    [{ after: -1 }, 'after got -1, expected a whole number from 0.'],
    [{ after: 1.5 }, 'after got 1.5'],
  ])('refuses %j', (wrong, message) => {
    const right = { broadcaster: memoryBroadcaster(), sessionId: 's', executionId: 'e' };
    expect(() => new AgentEventEnvelopeAdapter({ ...right, ...wrong } as never)).toThrow(message);
  });
});

describe('the number and the one before', () => {
  it('counts what a log would number, filtered or not', async () => {
    const events: AgentEvent[] = [];
    const live = new Live();
    const agent = scripted([toolCall('look'), stream(['a', 'b'])], [mockTool('look')]).build();
    agent.wiretap((event) => events.push(event));
    await live.run(agent, asked());
    const kept = events.filter(({ type }) => type !== 'StreamChunk' && type !== 'ToolCallDelta');
    expect(kept.length).toBeLessThan(events.length);
    for (const preset of presets) {
      const envelopes = live.of(preset);
      isUnbroken(envelopes);
      for (const { seq, timestamp, agent_id } of numbered(envelopes))
        expect([timestamp, agent_id]).toEqual([kept[seq! - 1]!.at, kept[seq! - 1]!.agentId]);
      expect(numbered(envelopes).at(-1)!.seq).toBe(kept.length);
    }
    const fleeting = live.of('debug').filter(({ seq }) => seq === null);
    expect(new Set(fleeting.map(({ type }) => type))).toEqual(
      new Set(['agent.stream.chunk', 'agent.tool.delta']),
    );
    expect(fleeting.every(({ prev }) => prev === null)).toBe(true);
  });

  it('an adapter for a resume goes on after the one before; its chain hangs together', async () => {
    const agent = scripted([toolCall('pay'), toolCall('pay'), final('done')], [pay()]).build();
    const all: Envelope[] = [];
    let after = 0;
    let state: AgentState = asked();
    for (const callId of [null, 'call_1', 'call_2']) {
      const { adapter, sent, tap: wiretap } = adapterOn({ after });
      state =
        callId === null
          ? await agent.run(state, { executionId: EXECUTION, wiretap })
          : await agent.resume(state, { approvals: { [callId]: { approve: true } }, wiretap });
      all.push(...(await sent()));
      after = adapter.seq;
    }
    isUnbroken(all);
    expect(ends(all)).toEqual([
      'processing',
      'paused',
      'processing',
      'paused',
      'processing',
      'completed',
    ]);
  });

  it('numbers of a log: the first `prev` is the number before the first event, seen or filtered', async () => {
    const events: AgentEvent[] = [];
    await scripted([final('x')])
      .build()
      .run(asked(), { executionId: EXECUTION, wiretap: (event) => events.push(event) });
    const { adapter, sent } = adapterOn({ config: BroadcastConfig.minimal() });
    const filtered = events.filter(({ type }) => type === 'AgentStepStarted');
    const rest = events.filter(({ type }) => type === 'MessageAdded' || type === 'AgentFinished');
    let seq = 41;
    for (const event of [...filtered, ...rest]) adapter.send(event, ++seq);
    for (const event of rest) adapter.send(event, seq); // heard twice
    adapter.send({ ...events[0]!, executionId: 'another' }, 99);
    const envelopes = await sent();
    expect(envelopes.map(({ seq: n, prev }) => [n, prev])).toEqual([
      [43, 41],
      [44, 43],
      [45, 44],
    ]);
    expect(adapter.seq).toBe(45);
    const later = adapterOn({ after: 50, config: BroadcastConfig.minimal() });
    later.adapter.send(rest[0]!, 50);
    later.adapter.send(rest[0]!, 53);
    expect((await later.sent()).map(({ seq: n, prev }) => [n, prev])).toEqual([[53, 50]]);
  });
});

describe('D10: one status, the same everywhere', () => {
  const outcomes: Record<string, () => Promise<{ live: Live; state: AgentState }>> = {
    async completed() {
      const live = new Live();
      return { live, state: await live.run(scripted([final('x')]).build(), asked()) };
    },
    async stopped() {
      const live = new Live();
      const agent = scripted([toolCall('look')], [mockTool('look')])
        .withMaxSteps(1)
        .build();
      return { live, state: await live.run(agent, asked()) };
    },
    async failed() {
      const live = new Live();
      return { live, state: await live.run(scripted([error('down')]).build(), asked()) };
    },
    async cancelled() {
      const live = new Live();
      const stop = new AbortController();
      stop.abort('enough');
      const agent = scripted([final('x')]).build();
      return { live, state: await live.run(agent, asked(), { signal: stop.signal }) };
    },
    async paused() {
      const live = new Live();
      const agent = scripted([toolCalls([{ name: 'pay' }, { name: 'pay' }])], [pay()]).build();
      return { live, state: await live.run(agent, asked()) };
    },
  };

  it.each(Object.entries(outcomes))('%s, once per run', async (name, play) => {
    const { live, state } = await play();
    const { broadcast } = statusFacts(state.status, state.stopReason);
    expect(broadcast).toBe(name);
    for (const preset of presets) {
      expect(ends(live.of(preset))).toEqual(['processing', broadcast]);
      const { payload } = ofType(live.of(preset), 'agent.status').at(-1)!;
      expect(payload).toMatchObject({ step_count: state.stepCount, stop_reason: state.stopReason });
      expect(Object.keys(payload)).toEqual([
        'status',
        'previous_status',
        'step_count',
        'stop_reason',
        'stop_message',
        'resolved_by',
        'remedy',
        'error_message',
        'last_response',
      ]);
    }
  });

  it('says what it was before: also of a run that was ended while it waited, and of one that was reopened', async () => {
    const agent = scripted(
      [toolCall('pay'), toolCall('look'), final('x'), final('y')],
      [pay(), mockTool('look')],
    )
      .withMaxSteps(1)
      .build();
    const previous = async (work: (tap: (event: AgentEvent) => void) => unknown) => {
      const { tap, sent } = adapterOn();
      await work(tap);
      const statuses = ofType(await sent(), 'agent.status').map(({ payload }) => payload);
      return statuses.map((payload) => `${payload.previous_status} > ${payload.status}`);
    };
    const paused = await agent.run(asked(), { executionId: EXECUTION });
    expect(await previous((wiretap) => agent.stop(paused, { wiretap }))).toEqual([
      'paused > cancelled',
    ]);
    const approvals = { [paused.pendingApprovals[0]!.callId]: { approve: true } } as const;
    const stopped = await agent.resume(paused, { approvals });
    expect(
      await previous((wiretap) => agent.resume(stopped, { grant: { steps: 5 }, wiretap })),
    ).toEqual(['stopped > processing', 'processing > completed']);
    const cancelled = agent.stop(paused);
    expect(
      await previous((wiretap) => agent.resume(cancelled, { grant: { steps: 5 }, wiretap })),
    ).toEqual(['cancelled > processing', 'processing > completed']);
  });

  it('a broadcaster that takes less than the config allows gets less', async () => {
    const broadcaster = memoryBroadcaster({ frameBytes: 3_000 });
    const ids = { sessionId: SESSION, executionId: EXECUTION };
    const adapter = new AgentEventEnvelopeAdapter({ broadcaster, ...ids });
    const agent = scripted([stream(['"long" '.repeat(1_000)])]).build();
    await agent.run(asked(), { executionId: EXECUTION, wiretap: adapter.wiretap() });
    await adapter.flush();
    expect(adapter.stats).toMatchObject({ dropped: 0, failed: 0 });
    isUnbroken(broadcaster.envelopes());
    const message = ofType(broadcaster.envelopes(), 'agent.message').at(-1)!;
    expect(message.payload.content).toMatchObject({ ref: `${message.seq}.content.${EXECUTION}` });
  });

  it('a caller that leaves `iterate` has not paused the run: it goes on elsewhere', async () => {
    const agent = scripted([toolCall('look'), final('x')], [mockTool('look')]).build();
    const first = adapterOn();
    let left: AgentState | null = null;
    for await (const state of agent.iterate(asked(), {
      executionId: EXECUTION,
      wiretap: first.tap,
    })) {
      left = state;
      break;
    }
    const before = await first.sent();
    expect(ends(before)).toEqual(['processing', 'processing']);
    expect(plain(ofType(before, 'agent.status').at(-1)!.payload)).toEqual({
      status: 'processing',
      previous_status: 'processing',
      step_count: 1,
    });
    const second = adapterOn({ after: first.adapter.seq });
    await agent.resume(left!, { wiretap: second.tap });
    const after = await second.sent();
    expect(ends(after)).toEqual(['processing', 'completed']);
    isUnbroken([...before, ...after]);
  });
});

describe('D02: the last envelope alone says why, and what would let it go on', () => {
  const last = async (steps: ScenarioStep[], change = (b: ReturnType<typeof scripted>) => b) => {
    const live = new Live();
    const agent = change(scripted(steps, [mockTool('look'), pay()])).build();
    await live.run(agent, asked());
    return ofType(live.of('minimal'), 'agent.status').at(-1)!.payload;
  };

  it('a limit: its name, its numbers, the option and the grant', async () => {
    const payload = await last(
      [1, 2, 3, 4].map((n) => toolCall('look', { n })),
      (b) => b.withMaxSteps(4),
    );
    expect(payload).toMatchObject({
      status: 'stopped',
      stop_reason: 'steps_limit',
      resolved_by: 'StepsLimit',
      stop_message:
        'The limit of steps was reached: 4 of 4 steps used while work is still pending.',
      remedy: { option: 'withMaxSteps(...)', grant: { steps: 4 } },
    });
    expect(payload.remedy!.text).toContain('withMaxSteps');
  });

  it('an error: what the provider said, and the text that there was', async () => {
    const payload = await last([
      toolCall('look', {}, 'Looking.'),
      error({ type: 'model', message: 'no credit left' }),
    ]);
    expect(payload).toMatchObject({
      status: 'failed',
      stop_reason: 'error',
      error_message: 'no credit left',
      last_response: 'Looking.',
    });
    expect(payload.stop_message).toContain('no credit left');
  });

  it('a pause: what is waited for', async () => {
    expect(await last([toolCall('pay')])).toMatchObject({
      status: 'paused',
      stop_message: 'Waiting for a person to approve or deny pay.',
      remedy: { text: 'approve or deny the call.' },
    });
  });

  it('an answer that was cut off', async () => {
    expect(await last([final('half an', { finishReason: 'length' })])).toMatchObject({
      status: 'stopped',
      stop_reason: 'finish_reason',
      stop_message: expect.stringMatching(/^The answer broke off: .*\.$/) as string,
      last_response: 'half an',
    });
  });
});

describe('any run, any preset', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('look'), n: fc.nat(3) }),
    fc.record({ kind: fc.constant('fail'), n: fc.nat(3) }),
    fc.record({ kind: fc.constant('pay'), n: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant('ask'), n: fc.nat(2) }),
    fc.record({ kind: fc.constant('bad'), n: fc.nat(2) }),
  );
  type Step = { readonly kind: string; readonly n: number };
  const scenario = ({ kind, n }: Step): ScenarioStep => {
    if (kind === 'fail')
      return error('cut', n === 0 ? {} : { chunks: new Array<string>(n).fill('part ') });
    if (kind === 'ask') return toolCall('ask', { input: `task ${n}` });
    if (kind === 'bad') return toolCall('nowhere', { n });
    return toolCalls(
      Array.from({ length: n }, (_c, i) => ({ name: kind, args: { i } })),
      n === 1 ? 'Some words.' : '',
    );
  };

  it('the chain of `prev` is unbroken over pauses and resumes, and each run says one last word', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 5 }),
        fc.integer({ min: 1, max: 6 }),
        async (steps, maxSteps) => {
          const live = new Live();
          const clock = fakeClock();
          const script = [...steps.map(scenario), stream(['The ', 'end.'])];
          const inner = scripted(
            Array.from({ length: 6 }, () => stream(['in', 'ner'])),
            [],
            clock,
          )
            .withName('inner')
            .build()
            .asTool({ name: 'ask', description: 'Asks.' });
          const agent = scripted(script, [mockTool('look'), pay(), inner], clock)
            .withErrorPolicy(ErrorPolicy.retryAll().withBackoff({ initialMs: 1, maxMs: 1 }))
            .withMaxSteps(maxSteps)
            .build();
          const done = async (work: Promise<AgentState>): Promise<AgentState> => {
            let isOver = false;
            const over = work.finally(() => (isOver = true));
            while (!isOver) await clock.advance(5);
            return over;
          };
          let runs = 1;
          let state = await done(live.run(agent, asked()));
          for (; state.status === 'paused'; runs++) {
            const approvals = Object.fromEntries(
              state.pendingApprovals.map(({ callId }) => [callId, { approve: true } as const]),
            );
            state = await done(live.resume(agent, state, { approvals }));
          }
          for (const preset of presets) {
            const envelopes = live.of(preset);
            isUnbroken(envelopes);
            const statuses = ends(envelopes);
            expect(statuses.length).toBe(runs * 2);
            expect(statuses.filter((status) => status === 'processing').length).toBe(runs);
            expect(statuses.at(-1)).toBe(statusFacts(state.status, state.stopReason).broadcast);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
