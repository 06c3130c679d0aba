import { ErrorPolicy } from 'onward';
import { AgentEventEnvelopeAdapter, memoryBroadcaster } from 'onward/broadcasting';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { gated as pay } from '../setup/session-moments.ts';
import { adapterOn, ends } from './adapter-on.ts';
import {
  asked,
  EXECUTION,
  isUnbroken,
  Live,
  ofType,
  presets,
  scripted,
  SESSION,
} from './live-run.ts';

const { toolCall, final, error } = ScenarioStep;

describe('AgentEventEnvelopeAdapter', () => {
  it('sends only the events of its own run if two runs of one agent are concurrent', async () => {
    const look = mockTool('look', async ({ of }: { of: string }) => `seen by ${of}`);
    // both runs share one script
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

  it('sends each event once if both the agent and the run have its wiretap', async () => {
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

  it('sends no status for a nested agent that ends, fails or pauses', async () => {
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
