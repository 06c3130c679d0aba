import { defineTool, inProcessQueue, type Agent, type SessionRuntime } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import type { MessageContent } from '../../src/messages/content-part.ts';
import { stores } from '../setup/four-stores.ts';
import { gated } from '../setup/session-moments.ts';
import {
  ann,
  builderWith,
  clientOn,
  codeOf,
  followingDriver,
  gate,
  refusal,
  runtimeOn,
} from '../setup/sessions.ts';

const order = { ...ann, executionId: 'order-1' };
const waitFor = { ...order, wait: true };
const soon = (): Date => new Date(Date.now() + 1_000);

/** Creates an agent that charges once in each turn. */
function charging(hold?: Promise<void>): { agent: Agent; charges: () => number } {
  let charges = 0;
  const charge = defineTool({
    name: 'charge',
    description: 'Charges.',
    parameters: { type: 'object' },
    execute: async () => {
      charges += 1;
      await hold;
      return charges;
    },
  });
  const turn = [ScenarioStep.toolCall('charge', {}), ScenarioStep.final('charged')];
  const agent = builderWith(followingDriver(turn, turn, turn, turn), charge).build();
  return { agent, charges: () => charges };
}

const newSession = async (runtime: SessionRuntime): Promise<string> =>
  (await runtime.create(ann)).id;

describe.each(stores)('a message that is sent again under its execution id (%s)', (_name, open) => {
  it('resolves like the first one before the work begins, and runs once', async () => {
    const store = open();
    const { agent, charges } = charging();
    const client = clientOn(store, agent);
    const id = await newSession(client);
    const first = await client.send(id, 'charge', order);
    expect(first).toMatchObject({ status: 'in_progress', executionId: 'order-1' });
    expect(await client.send(id, 'charge', order)).toEqual(first);
    expect(await client.send(id, 'charge', { ...order, whenBusy: 'queue' })).toEqual(first);
    expect(await codeOf(() => client.send(id, 'other', order))).toBe('conflict');
    expect(await codeOf(() => client.send(id, 'charge', { ...ann, executionId: 'order-2' }))).toBe(
      'conflict',
    );
    const worker = runtimeOn(store, agent);
    const both = await Promise.all([
      worker.send(id, 'charge', waitFor),
      client.send(id, 'charge', waitFor),
    ]);
    for (const session of both)
      expect(session).toMatchObject({ status: 'completed', output: 'charged', messageCount: 4 });
    expect(charges()).toBe(1);
  });

  it('resolves while the work runs, and waits for its end if asked to', async () => {
    const hold = gate();
    const { agent, charges } = charging(hold.passed);
    const runtime = runtimeOn(open(), agent);
    const id = await newSession(runtime);
    const first = runtime.send(id, 'charge', waitFor);
    await expect.poll(charges).toBe(1);
    expect(await runtime.send(id, 'charge', order)).toMatchObject({
      status: 'in_progress',
      executionId: 'order-1',
    });
    const again = runtime.send(id, 'charge', waitFor);
    expect(await codeOf(() => runtime.send(id, 'charged', order))).toBe('conflict');
    hold.open();
    expect(await again).toEqual(await first);
    expect(charges()).toBe(1);
  });

  it('resolves after the end, after later turns, after prune and after a fork', async () => {
    const { agent, charges } = charging();
    const runtime = runtimeOn(open(), agent);
    const id = await newSession(runtime);
    const first = await runtime.send(id, 'charge', waitFor);
    expect(await runtime.send(id, 'charge', waitFor)).toEqual(first);
    expect(await runtime.send(id, 'charge', order)).toEqual(first);
    await runtime.send(id, 'more', { ...ann, executionId: 'order-2', wait: true });
    const repeats = async (sessionId: string): Promise<void> => {
      for (const options of [order, waitFor])
        expect(await runtime.send(sessionId, 'charge', options)).toMatchObject({
          status: 'completed',
          executionId: 'order-1',
        });
      const error = await refusal(() => runtime.send(sessionId, 'charge twice', waitFor));
      expect(error).toMatchObject({
        code: 'conflict',
        message: expect.stringMatching(/"order-1".*other content.*choose another executionId/),
        details: { sessionId, executionId: 'order-1' },
      });
    };
    await repeats(id);
    const fork = await runtime.fork(id, ann);
    await runtime.prune({ olderThan: soon(), owner: ann.owner });
    await repeats(id);
    await repeats(fork.id);
    expect(charges()).toBe(2);
    expect(
      await runtime.send(fork.id, 'charge', { ...ann, executionId: 'order-3', wait: true }),
    ).toMatchObject({ output: 'charged', executionId: 'order-3' });
    expect(charges()).toBe(3);
    await runtime.delete(id, ann);
    await runtime.delete(fork.id, ann);
  });

  it('does not wait for a later message', async () => {
    const store = open();
    const { agent, charges } = charging();
    const runtime = runtimeOn(store, agent);
    const id = await newSession(runtime);
    await runtime.send(id, 'charge', waitFor);
    await runtime.prune({ olderThan: soon(), owner: ann.owner });
    const hold = gate();
    const blocked = charging(hold.passed);
    const other = runtimeOn(store, blocked.agent);
    await other.send(id, 'block', { ...ann, executionId: 'order-2' });
    await expect.poll(blocked.charges).toBe(1);
    expect(await runtime.send(id, 'charge', waitFor)).toMatchObject({ executionId: 'order-1' });
    hold.open();
    await other.wait(id, ann);
    expect(charges()).toBe(1);
  });

  it('resolves while the session waits for an approval', async () => {
    const driver = followingDriver([ScenarioStep.toolCall('pay', {})]);
    const agent = builderWith(driver, gated()).build();
    const runtime = runtimeOn(open(), agent);
    const id = await newSession(runtime);
    const first = await runtime.send(id, 'pay', waitFor);
    expect(first.status).toBe('paused');
    expect(await runtime.send(id, 'pay', waitFor)).toEqual(first);
    expect(await codeOf(() => runtime.send(id, 'else', ann))).toBe('awaiting_approval');
  });

  it('is the same for any order of keys in its parts, but not with other content', async () => {
    const { agent, charges } = charging();
    const runtime = runtimeOn(open(), agent);
    const id = await newSession(runtime);
    const part = (url: string): MessageContent => [
      { type: 'text', text: 'charge' },
      { type: 'image', mediaType: 'image/png', url },
    ];
    const turned: MessageContent = [
      { text: 'charge', type: 'text' },
      { url: 'https://a.example/1.png', mediaType: 'image/png', type: 'image' },
    ];
    await runtime.send(id, part('https://a.example/1.png'), waitFor);
    expect(await runtime.send(id, turned, waitFor)).toMatchObject({ status: 'completed' });
    const other = (): Promise<unknown> =>
      runtime.send(id, part('https://a.example/2.png'), waitFor);
    expect(await codeOf(other)).toBe('conflict');
    expect(charges()).toBe(1);
  });

  it('stores hashes that do not reveal equal contents', async () => {
    const store = open();
    const { agent } = charging();
    const hashes: unknown[] = [];
    const noting: typeof store = {
      ...store,
      accept(id, command, condition) {
        hashes.push(command.contentHash);
        return store.accept(id, command, condition);
      },
    };
    const client = clientOn(noting, agent);
    const ids = [await newSession(client), await newSession(client)];
    for (const [n, id] of ids.entries())
      await client.send(id, 'yes', { ...ann, executionId: `order-${n}` });
    expect(hashes).toEqual([expect.any(String), expect.any(String)]);
    expect(new Set(hashes).size).toBe(2);
  });

  it('is accepted when the queue is full', async () => {
    const hold = gate();
    const { agent } = charging(hold.passed);
    const queue = inProcessQueue({ concurrency: 1, maxWaiting: 1 });
    const runtime = runtimeOn(open(), agent, { queue });
    const ids = [await newSession(runtime), await newSession(runtime), await newSession(runtime)];
    const [first = '', second = '', third = ''] = ids;
    await runtime.send(first, 'charge', order);
    await runtime.send(second, 'charge', order);
    await expect.poll(() => queue.isFull).toBe(true);
    expect(await codeOf(() => runtime.send(third, 'charge', order))).toBe('queue_full');
    expect(await runtime.send(second, 'charge', order)).toMatchObject({ status: 'in_progress' });
    hold.open();
    expect(await runtime.send(second, 'charge', waitFor)).toMatchObject({ status: 'completed' });
  });
});
