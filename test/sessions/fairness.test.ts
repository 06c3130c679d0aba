import { describe, expect, it } from 'vitest';
import { createAgent, inProcessQueue, type AnyAgent } from 'onward';
import { memoryPlace, runtimeOn } from '../setup/sessions.ts';

/**
 * Creates an agent that records which sessions run, and the most that ran at the same time. Its answers wait for
 * `ready`.
 */
function watchedAgent(ready: Promise<void> = Promise.resolve()) {
  const began: string[] = [];
  const seen = { running: 0, most: 0 };
  const agent: AnyAgent = createAgent({
    name: 'support',
    driver: {
      name: 'test',
      async infer({ messages }) {
        began.push(messages.last()?.text ?? '');
        seen.most = Math.max(seen.most, ++seen.running);
        await ready;
        await new Promise(setImmediate);
        seen.running--;
        return {
          content: 'done',
          toolCalls: [],
          finishReason: 'stop',
          usage: { input: 1, output: 1 },
        };
      },
    },
  });
  return { agent, began, seen };
}

describe('sessions of several owners', () => {
  it('take turns by owner', async () => {
    let allSent = (): void => {};
    const { agent, began } = watchedAgent(new Promise((resolve) => (allSent = resolve)));
    const queue = inProcessQueue({ concurrency: 1 });
    const runtime = runtimeOn(memoryPlace().open(), agent, { queue });
    const ids = ['a1', 'a2', 'a3', 'a4', 'b1'];
    for (const id of ids) {
      const owner = id[0]!;
      await runtime.create({ owner, id });
      await runtime.send(id, id, { owner });
    }
    allSent();
    for (const id of ids) await runtime.wait(id, { owner: id[0]! });
    expect(began).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
  });

  it.each([
    ['an owner', { maxPerOwner: 1 }],
    ['an agent', { agents: { support: 1 } }],
  ])('keep the limit of %s, even if they are found in the store', async (_, limit) => {
    const place = memoryPlace();
    const { agent, began, seen } = watchedAgent();
    const idle = { ...inProcessQueue(), add: () => {} };
    const sender = runtimeOn(place.open(), agent, { queue: idle });
    const ids = ['a1', 'a2', 'a3', 'a4'];
    for (const id of ids) {
      await sender.create({ owner: 'a', id });
      await sender.send(id, id, { owner: 'a' });
    }
    const worker = runtimeOn(place.open(), agent, { queue: inProcessQueue(limit) });
    expect(await worker.recover()).toBe(4);
    for (const id of ids) await worker.wait(id, { owner: 'a' });
    expect([began.toSorted(), seen.most]).toEqual([ids, 1]);
  });
});
