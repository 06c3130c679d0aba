import { AgentBuilder, defineTool } from 'onward';
import * as z from 'zod';

export const PROMPT = 'add numbers';

/** The same schema and the same tool body on both sides. */
const schema = z.object({ a: z.number(), b: z.number() });
const add = async ({ a, b }) => a + b;

/** What the scripted model says at its n-th call: `steps - 1` tool calls, then a text. */
const callAt = (n) => ({ id: `call_${n}`, name: 'add', argsRaw: JSON.stringify({ a: n, b: 1 }) });
const usage = { input: 10, output: 5, total: 15 };

/** The index is read from the conversation, so a loop that loses a message never ends. */
export const scriptedDriver = (steps) => ({
  name: 'scripted',
  async infer({ messages }) {
    const n = (messages.length - 1) / 2;
    return n < steps - 1
      ? { content: '', toolCalls: [callAt(n)], finishReason: 'tool_calls', usage }
      : { content: 'done', toolCalls: [], finishReason: 'stop', usage };
  },
});

/** Adds numbers until its script is through; `idempotent`, so that it may begin again after a crash. */
export function addingAgent(steps, ...capabilities) {
  const tool = defineTool({
    name: 'add',
    description: 'Adds two numbers.',
    parameters: schema,
    execute: add,
    idempotent: true,
  });
  return AgentBuilder.base()
    .withDriver(scriptedDriver(steps))
    .withTools(tool)
    .withMaxSteps(steps + 5)
    .withCapability(...capabilities)
    .build();
}

export function onwardLoop(steps, ...capabilities) {
  const agent = addingAgent(steps, ...capabilities);
  return async () => {
    const state = await agent.run(PROMPT);
    if (state.output !== 'done' || state.stepCount !== steps) throw new Error('bad run');
    return state;
  };
}

/** The loop written by hand: call the model, push messages, check arguments, call the tool. */
export function bareLoop(steps) {
  const driver = scriptedDriver(steps);
  const tools = { add };
  return async () => {
    const messages = [{ role: 'user', content: PROMPT }];
    for (;;) {
      const { content, toolCalls } = await driver.infer({ messages });
      messages.push({ role: 'assistant', content, toolCalls });
      if (toolCalls.length === 0) break;
      for (const { id, name, argsRaw } of toolCalls) {
        const result = await tools[name](schema.parse(JSON.parse(argsRaw)));
        messages.push({ role: 'tool', toolCallId: id, content: String(result) });
      }
    }
    if (messages.length !== 2 * steps) throw new Error('bad run');
    return messages;
  };
}
