import { createAgent, type Agent } from 'onward';
import { mcp, type McpCapability } from 'onward/mcp';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';

/**
 * The agent that each process creates: it calls tools of the server, or the agent `ask_clerk`, which pays with one that
 * needs approval.
 */
export function sessionAgent(
  url: string,
  calls: readonly (readonly [string, object])[],
): { readonly agent: Agent; readonly capability: McpCapability } {
  const { toolCall, final } = ScenarioStep;
  const capability = mcp({ name: 'st', url }, { needsApproval: ['effect'] });
  // a process that continues it makes the calls after the first step only
  const clerk = createAgent({
    name: 'clerk',
    model: calls.some(([name]) => name === 'ask_clerk')
      ? DeterministicDriver.fromSteps(toolCall('st__effect', { id: 'paid' }), final('paid'))
      : DeterministicDriver.fromResponses('paid'),
    capabilities: [capability],
  });
  const agent = createAgent({
    name: 'a',
    model: DeterministicDriver.fromSteps(
      ...calls.map(([name, args]) => toolCall(name, args as never)),
      final('done'),
    ),
    tools: [clerk.asTool({ name: 'ask_clerk', description: 'Asks the clerk.' })],
    capabilities: [capability],
  });
  return { agent, capability };
}
