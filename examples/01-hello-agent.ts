import { AgentBuilder, defineTool } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import * as z from 'zod';

const stock = defineTool({
  name: 'stock',
  description: 'How many pieces of an article we have.',
  parameters: z.object({ article: z.string() }),
  execute: ({ article }) => ({ article, pieces: 7 }),
});
const model = DeterministicDriver.fromSteps(
  ScenarioStep.toolCall('stock', { article: 'lamp' }),
  ScenarioStep.toolCall('stock', { article: 'chair' }),
);
const agent = AgentBuilder.base().withModel(model).withTools(stock).withMaxSteps(2).build();

const state = await agent.run('What do we have in stock?');
console.log(state.lastContinuationOutcome?.explain());

/* prints
Stopped (steps_limit) by StepsLimit: 2 of 2 steps used while work is still pending.
To go on: grant more steps with resume(state, { grant: { steps: 2 } }), or raise the limit with withMaxSteps(...).
  forbid   StepsLimit             2 of 2 steps used while work is still pending
  allow    ExecutionTimeLimit     0 of 300 seconds
  allow    FinishReasonCheck      finish reason tool_calls
  allow    ErrorPolicyCriterion   no error
  allow    StopRequestCheck       nobody asked to stop
  request  ToolCallPresenceCheck  the model called stock
*/
