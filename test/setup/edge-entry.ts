import { createAgent, defineTool } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';

export async function main(): Promise<string> {
  const add = defineTool({
    name: 'add',
    description: 'Adds two numbers.',
    parameters: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
    execute: ({ a, b }) => Number(a) + Number(b),
  });
  const driver = DeterministicDriver.fromSteps(
    ScenarioStep.toolCall('add', { a: 1, b: 2 }),
    ScenarioStep.final('3'),
  );
  const state = await createAgent({ driver, tools: [add] }).run('1 + 2?');
  return `${state.status}: ${String(state.output)}`;
}
