import { AgentState, type AgentEvent } from 'onward';
import { AgentEventEnvelopeAdapter, memoryBroadcaster } from 'onward/broadcasting';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { statusFacts } from '../../src/agent/agent-status.ts';
import { gated as pay } from '../setup/session-moments.ts';
import { adapterOn, ends } from './adapter-on.ts';
import {
  asked,
  EXECUTION,
  isUnbroken,
  Live,
  ofType,
  plain,
  presets,
  scripted,
  SESSION,
} from './live-run.ts';

const { toolCall, toolCalls, final, stream, error } = ScenarioStep;

describe('D10: the status of a run', () => {
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

  it.each(Object.entries(outcomes))(
    'is %s in all presets and is sent once at the end',
    async (name, play) => {
      const { live, state } = await play();
      const { broadcast } = statusFacts(state.status, state.stopReason);
      expect(broadcast).toBe(name);
      for (const preset of presets) {
        expect(ends(live.of(preset))).toEqual(['processing', broadcast]);
        const { payload } = ofType(live.of(preset), 'agent.status').at(-1)!;
        expect(payload).toMatchObject({
          step_count: state.stepCount,
          stop_reason: state.stopReason,
        });
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
          'explanation',
        ]);
      }
    },
  );

  it('names the previous status, also after a stop during a pause and after a resume of an ended run', async () => {
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

  it('truncates envelopes to the frame size of the broadcaster', async () => {
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

  it('stays "processing" when a caller leaves `iterate`', async () => {
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

describe('D02: the last envelope explains the stop and how to continue', () => {
  const last = async (steps: ScenarioStep[], change = (b: ReturnType<typeof scripted>) => b) => {
    const live = new Live();
    const agent = change(scripted(steps, [mockTool('look'), pay()])).build();
    await live.run(agent, asked());
    return ofType(live.of('minimal'), 'agent.status').at(-1)!.payload;
  };

  it('names a limit, its numbers, the option and the grant', async () => {
    const payload = await last(
      [1, 2, 3, 4].map((n) => toolCall('look', { n })),
      (b) => b.withMaxSteps(4),
    );
    expect(payload).toMatchObject({
      status: 'stopped',
      stop_reason: 'steps_limit',
      resolved_by: 'StepsLimit',
      stop_message: 'Stopped because it used 4 of 4 steps before the model read a tool result.',
      remedy: { option: 'withMaxSteps(...)', grant: { steps: 4 } },
    });
    expect(payload.remedy!.text).toContain('withMaxSteps');
  });

  it('has the error of the provider and the last text', async () => {
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

  it('names the call that needs approval', async () => {
    expect(await last([toolCall('pay')])).toMatchObject({
      status: 'paused',
      stop_message: 'Waiting because pay needs approval.',
      remedy: { text: 'approve or deny the call.' },
    });
  });

  it('explains a truncated answer', async () => {
    expect(await last([final('half an', { finishReason: 'length' })])).toMatchObject({
      status: 'stopped',
      stop_reason: 'finish_reason',
      stop_message: expect.stringMatching(/^Stopped because the answer reached .*\.$/) as string,
      last_response: 'half an',
    });
  });
});
