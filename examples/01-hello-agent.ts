import { AgentBuilder, defineTool, ErrorPolicy } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import * as z from 'zod';

const stock = defineTool({
  name: 'stock',
  description: 'How many pieces of an article are in stock.',
  parameters: z.object({ article: z.string() }),
  execute: ({ article }) => ({ article, pieces: article === 'lamp' ? 7 : 0 }),
});

const model = DeterministicDriver.fromSteps(
  ScenarioStep.toolCall('stock', { article: 'lamp' }),
  ScenarioStep.final('We have 7 lamps in stock.'),
);

const agent = AgentBuilder.base()
  .withModel(model)
  .withTools(stock)
  .withErrorPolicy(ErrorPolicy.retryToolErrors(3))
  .build();

const state = await agent.run('Do we have lamps?');

console.log(state.output);
console.log(state.lastContinuationOutcome?.explain());
