import { sessionOperator } from 'onward/server';
import type { SessionStore } from 'onward/stores';
import { memoryStore } from 'onward/stores/memory';
import { ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { agentWith, builderWith, gate, pause, runtimeOn, until } from '../setup/sessions.ts';

/** Counts the calls of a store by method. */
function counted(store: SessionStore) {
  const calls: string[] = [];
  const methods = Object.entries(store).map(([name, value]) => [
    name,
    typeof value === 'function'
      ? (...args: unknown[]): unknown => {
          calls.push(name);
          return (value as (...given: unknown[]) => unknown)(...args);
        }
      : value,
  ]);
  return { calls, store: Object.fromEntries(methods) as SessionStore }; // the same methods
}

it('an idle worker asks the store for less than ten things a second, its report included', async () => {
  const { calls, store } = counted(memoryStore());
  const runtime = runtimeOn(store, agentWith([]));
  runtime.start();
  const seconds = 3;
  await pause(seconds * 1_000);
  expect(calls.filter((name) => name === 'reportWorker')).toHaveLength(1);
  expect(calls.length / seconds).toBeLessThan(10);
});

it('a worker is busy while it runs a session, draining while it closes, and gone then', async () => {
  const [entered, answer] = [gate(), gate()];
  const agent = builderWith({
    name: 'slow',
    async infer() {
      entered.open();
      await answer.passed;
      return { content: 'done', toolCalls: [], finishReason: 'stop', usage: null };
    },
  }).build();
  const store = memoryStore();
  const runtime = runtimeOn(store, agent);
  const operator = sessionOperator(runtimeOn(store, agentWith([ScenarioStep.final('')])));
  runtime.start();
  await runtime.create({ owner: 'ann', id: 's' });
  await runtime.send('s', 'go', { owner: 'ann' });
  await entered.passed;
  expect(await operator.workers()).toMatchObject([{ status: 'busy', leases: 1, pid: process.pid }]);
  expect(await operator.queue()).toMatchObject({ active: 1, waiting: 0, workers: 1 });
  const closing = runtime.close();
  await until(async () => (await operator.workers())[0]?.status === 'draining');
  expect(await operator.queue()).toMatchObject({ active: 1, workers: 0 });
  answer.open();
  await closing;
  expect(await operator.workers()).toEqual([]);
  expect(await operator.queue()).toMatchObject({ active: 0, agents: [] });
});
