/** A real model: any server that speaks Chat Completions. Here one of our own, so that it runs without a key. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAgent, defineTool, ErrorPolicy } from 'onward';
import { openai } from 'onward/drivers/openai';
import * as z from 'zod';

// replaces the provider: too busy at first, then it asks for the tool, then it answers, word by word
const usage = { prompt_tokens: 400, completion_tokens: 20, total_tokens: 420 };
const ask = {
  index: 0,
  id: 'call_1',
  function: { name: 'weather', arguments: '{"city":"Paris"}' },
};
const answers = [
  [{ delta: { tool_calls: [ask] } }, { delta: {}, finish_reason: 'tool_calls' }],
  [{ delta: { content: 'It is ' } }, { delta: { content: '18 degrees.' }, finish_reason: 'stop' }],
];
let requests = 0;
const server = createServer((_request, response) => {
  const choices = answers[requests++ - 1];
  if (!choices) {
    response.writeHead(429, { 'retry-after-ms': '20' });
    response.end(JSON.stringify({ error: { message: 'Rate limit reached.' } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const choice of choices)
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }], usage })}\n\n`);
  response.end('data: [DONE]\n\n');
});
await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;

const weather = defineTool({
  name: 'weather',
  description: 'The temperature in a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, celsius: 18 }),
});
const agent = createAgent({
  model: openai('gpt-5-mini', { baseURL: `http://127.0.0.1:${port}/v1`, idleTimeoutMs: 5_000 }),
  tools: [weather],
  errorPolicy: ErrorPolicy.production(),
  maxCost: 0.01,
});

const run = agent.stream('How warm is it in Paris?');
for await (const event of run) {
  if (event.type === 'StepFailed') console.log(event.error.message, `Waiting ${event.waitMs} ms.`);
  if (event.type === 'ToolCallStarted') console.log(event.tool, event.args);
  if (event.type === 'StreamChunk') console.log(event.content);
}
const state = await run.state;
console.log(`${requests} requests, ${state.usage.total} tokens, $${state.execution?.cost}`);
server.close();

/* prints
Rate limit reached. Waiting 20 ms.
weather { city: 'Paris' }
It is
18 degrees.
3 requests, 840 tokens, $0.00028
*/
