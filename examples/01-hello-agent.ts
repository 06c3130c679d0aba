// model: search_docs {"query":"API key"}; search_docs {"query":"rotate key"}
import { createAgent, defineTool, ErrorPolicy } from 'onward';
import * as z from 'zod';

const searchDocs = defineTool({
  name: 'search_docs',
  description: 'Searches the product docs.',
  parameters: z.object({ query: z.string() }),
  execute: ({ query }) => `No page mentions "${query}".`,
});
const agent = createAgent({
  model: 'openai:gpt-5',
  tools: [searchDocs],
  maxSteps: 2,
  errorPolicy: ErrorPolicy.production(),
});
const state = await agent.run('How do I rotate an API key?');
console.log(state.lastContinuationOutcome?.explain());

/* prints
Stopped (steps_limit) by StepsLimit: 2 of 2 steps used while work is still pending.
To continue: call resume(state, { grant: { steps: 2 } }), or raise the limit with maxSteps.
  forbid   StepsLimit             2 of 2 steps used while work is still pending
  allow    ExecutionTimeLimit     0 of 300 seconds
  allow    FinishReasonCheck      finish reason tool_calls
  allow    ErrorPolicyCriterion   no error
  allow    StopRequestCheck       no stop requested
  request  ToolCallPresenceCheck  the model called search_docs
*/
