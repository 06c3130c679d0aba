import { AgentBuilder, defineTool, ErrorPolicy, type AnyAgent, type SessionRuntime } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import * as z from 'zod';
import { ann, followingDriver, waiting } from './sessions.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

/** A session to export: the agent, and what its owner does. */
export interface ExportedCase {
  readonly name: string;
  readonly messages?: Parameters<SessionRuntime['create']>[0]['messages'];
  agent(): AnyAgent;
  play(runtime: SessionRuntime, id: string): Promise<unknown>;
}

const stock = mockTool('stock', { units: 3, note: 'x'.repeat(20_000) });
const broken = defineTool({
  name: 'broken',
  description: 'Fails.',
  execute: () => {
    throw new Error('no such shelf');
  },
});
const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  parameters: z.object({ order: z.number() }),
  needsApproval: true,
  execute: () => ({ refunded: true }),
});

const agentOf = (name: string, ...turns: readonly (readonly ScenarioStep[])[]): AgentBuilder =>
  AgentBuilder.base()
    .withName(name)
    .withSystemPrompt('You help.')
    .withDriver(followingDriver(...turns))
    .withErrorPolicy(ErrorPolicy.retryAll().withBackoff({ initialMs: 1, maxMs: 1 }));

/** Sessions of every kind: two turns with tools, a failed tool and call, a limit with a grant, an approval, a nested agent. */
export const exportedCases: readonly ExportedCase[] = [
  {
    name: 'two turns with tools',
    agent: () =>
      agentOf(
        'shop',
        [toolCalls([{ name: 'stock' }, { name: 'stock', args: { of: 'b' } }]), final('Three.')],
        [final('Bye.')],
      )
        .withTools(stock)
        .build(),
    async play(runtime, id) {
      await runtime.send(id, 'How many?', waiting);
      await runtime.send(id, 'Bye', waiting);
    },
  },
  {
    name: 'a failed tool and a failed model call',
    agent: () =>
      agentOf('shop', [toolCall('broken'), ScenarioStep.error('busy'), final('Sorry.')])
        .withTools(broken)
        .build(),
    play: (runtime, id) => runtime.send(id, 'How many?', waiting),
  },
  {
    name: 'a limit with a grant',
    agent: () =>
      agentOf('shop', [toolCall('stock'), toolCall('stock', { of: 'b' }), final('Three.')])
        .withTools(stock)
        .withMaxSteps(1)
        .build(),
    async play(runtime, id) {
      await runtime.send(id, 'How many?', waiting);
      await runtime.resume(id, { ...waiting, grant: { steps: 1 } });
    },
  },
  {
    name: 'a call that needs approval',
    agent: () =>
      agentOf('shop', [toolCall('refund', { order: 7 })])
        .withTools(refund)
        .build(),
    play: (runtime, id) => runtime.send(id, 'Refund it', waiting),
  },
  {
    name: 'an approval that was given',
    agent: () =>
      agentOf('shop', [toolCall('refund', { order: 7 }), final('Done.')])
        .withTools(refund)
        .build(),
    async play(runtime, id) {
      const { pendingApprovals } = await runtime.send(id, 'Refund it', waiting);
      for (const { callId } of pendingApprovals) await runtime.approve(id, callId, waiting);
    },
  },
  {
    name: 'a nested agent that waits',
    agent: () =>
      agentOf('lead', [toolCall('ask', { input: 'refund 7' }), final('Asked.')])
        .withTools(
          agentOf('helper', [toolCall('stock'), toolCall('refund', { order: 7 }), final('Yes.')])
            .withTools(stock, refund)
            .build()
            .asTool({ name: 'ask', description: 'Asks.' }),
        )
        .build(),
    play: (runtime, id) => runtime.send(id, 'Ask', waiting),
  },
  {
    name: 'messages without a run',
    agent: () => agentOf('shop', [final('Hi.')]).build(),
    messages: [{ role: 'user', content: 'Hello?' }],
    play: async () => {},
  },
];

/** Creates and plays a case. Returns the id of its session. */
export async function played(runtime: SessionRuntime, of: ExportedCase): Promise<string> {
  const { messages = [] } = of;
  const { id } = await runtime.create({ ...ann, messages, metadata: { tier: 'gold' } });
  await of.play(runtime, id);
  return id;
}
