import { AgentState, ErrorPolicy, type AgentEvent } from 'onward';
import { BroadcastConfig, type Envelope } from 'onward/broadcasting';
import { fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { statusFacts } from '../../src/agent/agent-status.ts';
import { gated as pay } from '../setup/session-moments.ts';
import { adapterOn, ends } from './adapter-on.ts';
import { asked, EXECUTION, isUnbroken, Live, numbered, presets, scripted } from './live-run.ts';

const { toolCall, toolCalls, final, stream, error } = ScenarioStep;

describe('seq and prev', () => {
  it('counts every event that a log numbers, also filtered ones', async () => {
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

  it('continues the numbers of the previous adapter after a resume', async () => {
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

  it('uses given log numbers and starts `prev` before the first event, also if it is filtered', async () => {
    const events: AgentEvent[] = [];
    await scripted([final('x')])
      .build()
      .run(asked(), { executionId: EXECUTION, wiretap: (event) => events.push(event) });
    const { adapter, sent } = adapterOn({ config: BroadcastConfig.minimal() });
    const filtered = events.filter(({ type }) => type === 'AgentStepStarted');
    const rest = events.filter(({ type }) => type === 'MessageAdded' || type === 'AgentFinished');
    let seq = 41;
    for (const event of [...filtered, ...rest]) adapter.send(event, ++seq);
    for (const event of rest) adapter.send(event, seq); // duplicates
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

describe('random runs in all presets', () => {
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

  it('have an unbroken chain of `prev` over pauses and resumes, and one final status per run', async () => {
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
