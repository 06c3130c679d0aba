/** An agent as the tool of another: one execution, one bill, and events that say who spoke. */
import { createAgent } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';

const researcher = createAgent({
  name: 'researcher',
  model: DeterministicDriver.fromSteps(
    ScenarioStep.toolCall('search', { query: 'founding year' }),
    ScenarioStep.final('It was founded in 1897.'),
  ),
  tools: [mockTool('search', 'founded 1897')],
});

const writer = createAgent({
  name: 'writer',
  model: DeterministicDriver.fromSteps(
    ScenarioStep.toolCall('research', { input: 'When was the shop founded?' }),
    ScenarioStep.final('The shop dates from 1897.'),
  ),
  tools: [researcher.asTool({ name: 'research', description: 'Finds facts.' })],
});

const state = await writer.run('Write one line about the shop.', {
  wiretap: (event) => {
    if (event.type === 'ToolCallCompleted')
      console.log(event.parentAgentId ? 'researcher' : 'writer', event.tool, event.result);
  },
});
console.log(state.output);
console.log(state.steps.at(0)?.usage.total, 'tokens in the first step, the researcher included');

/* prints
researcher search founded 1897
writer research It was founded in 1897.
The shop dates from 1897.
45 tokens in the first step, the researcher included
*/
