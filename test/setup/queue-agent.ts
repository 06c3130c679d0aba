import { createAgent, defineTool, type AnyAgent, type InferenceDriver } from 'onward';

const usage = { input: 1, output: 1 };

/** Calls its tool once for each message, then answers. */
const driver: InferenceDriver = {
  name: 'test',
  model: 'test',
  async infer({ messages }) {
    return messages.last()?.role === 'tool'
      ? { content: 'done', toolCalls: [], finishReason: 'stop', usage }
      : {
          content: '',
          toolCalls: [{ id: `c${messages.length}`, name: 'work', args: {} }],
          finishReason: 'tool_calls',
          usage,
        };
  },
};

/** An agent with one tool that takes `ms`. `worked` gets the idempotency key of each start. */
export function queueAgent(ms: number, worked: (key: string) => void): AnyAgent {
  const work = defineTool({
    name: 'work',
    description: 'Works.',
    idempotent: true,
    async execute(_args, { idempotencyKey }) {
      worked(idempotencyKey);
      await new Promise((resolve) => {
        setTimeout(resolve, ms);
      });
      return 'ok';
    },
  });
  return createAgent({ name: 'worker', driver, tools: [work] });
}
