import { AgentBuilder, defineTool, SessionRuntime, type Agent } from 'onward';
import type { InferenceDriver, InferenceResponse } from 'onward/drivers';
import type { SessionStore } from 'onward/stores';

export const ada: { readonly owner: string } = { owner: 'ada' };

const parameters = {
  type: 'object',
  properties: { value: { type: 'string' } },
  required: ['value'],
} as const;

/** Answers the last message: `say x` with text, `<tool> x` with a call of that tool and then with text. */
const driver: InferenceDriver = {
  name: 'scripted',
  model: 'scripted',
  infer: async ({ messages }): Promise<InferenceResponse> => {
    const all = [...messages];
    const text = all.findLast((message) => message.isUser())?.text ?? '';
    const [word = '', value = ''] = text.split(' ');
    const usage = { input: 10, output: 5 };
    if (word === 'say' || all.at(-1)?.role === 'tool')
      return { content: `done: ${text}`, toolCalls: [], finishReason: 'stop', usage };
    const call = { id: `call_${word}_${value}`, name: word, args: { value } };
    return { content: '', toolCalls: [call], finishReason: 'tool_calls', usage };
  },
};

/** The agent of the sessions in `test/fixtures/sqlite`. `ran` lists the tools that ran. */
export function oldAgent(ran: string[] = []): Agent {
  const tool = (name: string, execute: (value: string) => unknown, needsApproval = false) =>
    defineTool({
      name,
      description: `The tool ${name}.`,
      parameters,
      needsApproval,
      execute: (args) => {
        ran.push(name);
        return execute(String((args as { value: unknown }).value));
      },
    });
  return AgentBuilder.base()
    .withName('support')
    .withDriver(driver)
    .withTools(
      tool('lookup', (value) => (value === 'large' ? 'x'.repeat(40_000) : `found ${value}`)),
      tool('pay', (value) => `paid ${value}`, true),
      tool('hang', () => new Promise(() => {})),
    )
    .build();
}

/** Fills a store like the fixtures: sessions that are finished, forked, paused, queued and interrupted in a tool. */
export async function writeOldSessions(store: SessionStore): Promise<void> {
  const ran: string[] = [];
  const agents = [oldAgent(ran)];
  const runtime = new SessionRuntime({ store, agents });
  const idle = { start() {}, add() {}, isFull: false, waiting: 0, drain: async () => {} };
  const client = new SessionRuntime({ store, agents, queue: idle });
  const wait = { ...ada, wait: true };
  await runtime.create({ ...ada, id: 'finished', metadata: { plan: 'pro' } });
  await runtime.send('finished', 'lookup one', { ...wait, executionId: 'e-1' });
  await runtime.send('finished', 'lookup large', { ...wait, executionId: 'e-2' });
  await runtime.fork('finished', { ...ada, atStep: 3, id: 'forked' });
  await runtime.create({ ...ada, id: 'paused' });
  await runtime.send('paused', 'pay bill', { ...wait, executionId: 'e-3' });
  await client.create({ ...ada, id: 'queued' });
  await client.send('queued', 'say hello', { ...ada, executionId: 'e-4' });
  const leaver = new SessionRuntime({ store, agents, lease: { leaseMs: 50, heartbeatMs: 25 } });
  await leaver.create({ ...ada, id: 'left' });
  await leaver.send('left', 'hang up', { ...ada, executionId: 'e-5' });
  while (!ran.includes('hang')) await new Promise((resolve) => setTimeout(resolve, 5));
}
