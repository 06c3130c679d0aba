import {
  AgentBuilder,
  defineTool,
  ErrorPolicy,
  SessionRuntime,
  type Agent,
  type InferenceDriver,
} from 'onward';
import { memoryStore } from 'onward/stores/memory';
import { expect, it } from 'vitest';
import { mortal } from '../setup/mortal-store.ts';
import { sleep } from './random.ts';

it('D46: a call that was refused before its step was saved does not block a new call with the same id', async () => {
  const ran: string[] = [];
  let asked = false;
  const agentWhere = (isFirst: boolean): Agent => {
    const driver: InferenceDriver = {
      name: 'repeats ids',
      infer: async ({ messages }) => {
        const isAnswered = messages.last()?.isTool() === true;
        return {
          content: isAnswered ? 'done' : '',
          toolCalls: isAnswered
            ? []
            : [
                { id: 'functions.a:0', name: 'a', args: isFirst ? { n: 'x' } : { n: 1 } },
                { id: 'functions.b:1', name: 'b', args: {} },
              ],
          finishReason: isAnswered ? 'stop' : 'tool_calls',
          usage: null,
        };
      },
    };
    const a = defineTool({
      name: 'a',
      description: 'Takes a number.',
      parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      execute: () => ran.push('a'),
    });
    const b = defineTool({
      name: 'b',
      description: 'Asks elsewhere whether it needs approval.',
      needsApproval: () => {
        asked = true;
        return isFirst ? new Promise(() => {}) : Promise.resolve(false);
      },
      execute: () => ran.push('b'),
    });
    const policy = ErrorPolicy.ignoreToolErrors();
    return AgentBuilder.base().withDriver(driver).withErrorPolicy(policy).withTools(a, b).build();
  };
  const store = memoryStore();
  const first = mortal(store);
  const lease = { leaseMs: 60, heartbeatMs: 20, signalMs: 20 };
  const doomed = new SessionRuntime({ store: first.store, agents: [agentWhere(true)], lease });
  const { id } = await doomed.create({ owner: 'ann' });
  await doomed.send(id, 'go', { owner: 'ann' });
  await expect.poll(() => asked).toBe(true);
  await sleep(50);
  first.die();
  const errors: unknown[] = [];
  const second = new SessionRuntime({
    store,
    agents: [agentWhere(false)],
    lease,
    onError: (error) => errors.push(error),
  });
  second.start();
  await expect.poll(async () => (await second.get(id, { owner: 'ann' })).status).toBe('completed');
  expect(errors).toEqual([]);
  // the refusal was saved with its step
  expect(ran).toEqual(['b']);
  await second.close();
});
