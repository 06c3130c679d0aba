/** Everything a run does, as it happens: text, tool calls and outcomes. */
import { createAgent, describeEvent } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';

const model = DeterministicDriver.fromSteps(
  ScenarioStep.toolCall('clock', {}, 'One moment.'),
  ScenarioStep.stream(['It is ', 'half past ', 'nine.']),
);
const agent = createAgent({ model, tools: [mockTool('clock', '09:30')] });

const run = agent.stream('What time is it?');
let text = '';
for await (const event of run) {
  if (event.type === 'StreamChunk') text += event.content;
  if (event.type === 'ToolCallCompleted')
    text += ` [${event.tool}: ${JSON.stringify(event.result)}] `;
  if (event.type === 'ContinuationEvaluated')
    console.log(describeEvent(event).replace(/\[\w+\]/, '[…]'));
}
console.log(text);
console.log((await run.state).usage.total, 'tokens');

/* prints
Agent […] step 0: CONTINUE (requested by ToolCallPresenceCheck)
Agent […] step 1: CONTINUE (requested by ToolCallPresenceCheck)
Agent […] step 2: STOP (completed)
One moment. [clock: "09:30"] It is half past nine.
30 tokens
*/
