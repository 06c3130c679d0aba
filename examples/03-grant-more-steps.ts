/** A run that reaches its limit names the grant that lets it continue, and continues with that grant. */
import { AgentBuilder } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';

const model = DeterministicDriver.fromSteps(
  ScenarioStep.toolCall('search', { page: 1 }),
  ScenarioStep.toolCall('search', { page: 2 }),
  ScenarioStep.toolCall('search', { page: 3 }),
  ScenarioStep.final('Found it on page 3.'),
);
const agent = AgentBuilder.base()
  .withModel(model)
  .withTools(mockTool('search', { hits: 0 }))
  .withMaxSteps(2)
  .build();

const stopped = await agent.run('Find the contract.');
const remedy = stopped.lastContinuationOutcome?.decisive?.remedy;
console.log(stopped.status, stopped.stopReason, remedy?.grant);

const done = await agent.resume(stopped, { grant: remedy?.grant ?? {} });
console.log(done.status, done.output);
console.log(done.lastContinuationOutcome?.evaluationFor('StepsLimit')?.reason);

/* prints
stopped steps_limit { steps: 2 }
completed Found it on page 3.
4 of 4 steps
*/
