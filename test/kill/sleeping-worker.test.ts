import { AgentBuilder, defineTool, SessionRuntime, type Agent } from 'onward';
import type { SessionStore } from 'onward/stores';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { sleep } from './random.ts';

/** A store for a process that sleeps: results arrive late, and it makes no calls meanwhile. */
function sleeper(
  store: SessionStore,
  fallsAsleep: (name: string, args: readonly unknown[]) => boolean,
): { readonly store: SessionStore; wake(): void } {
  let sleep: Promise<void> | null = null;
  let wake = (): void => {};
  const methods = Object.entries(store).map(([name, value]) => {
    if (typeof value !== 'function') return [name, value];
    const method = async (...args: unknown[]): Promise<unknown> => {
      // timers do not run while it sleeps
      if (sleep) return new Promise(() => {});
      const result: unknown = await value(...args);
      if (fallsAsleep(name, args)) sleep = new Promise<void>((resolve) => (wake = resolve));
      await sleep;
      return result;
    };
    return [name, method];
  });
  return {
    store: Object.fromEntries(methods) as SessionStore, // has the same methods
    wake() {
      sleep = null;
      wake();
    },
  };
}

it('D16: a process that slept while another took over does not start its next tool', async () => {
  const ran: string[] = [];
  const agentOf = (process: string): Agent => {
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      idempotent: true,
      execute: () => ran.push(process),
    });
    const steps = [ScenarioStep.toolCall('pay', {}), ScenarioStep.final('paid')];
    return AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(...(process === 'first' ? steps : steps.slice(1))))
      .withTools(pay)
      .build();
  };
  const lease = { leaseMs: 60, heartbeatMs: 20, signalMs: 20 };
  const store = memoryStore();
  const asleep = sleeper(
    store,
    (name, [commit]) => name === 'commit' && JSON.stringify(commit).includes('"started"'),
  );
  const first = new SessionRuntime({ store: asleep.store, agents: [agentOf('first')], lease });
  const second = new SessionRuntime({ store, agents: [agentOf('second')], lease });
  const { id } = await first.create({ owner: 'ann' });
  await first.send(id, 'pay', { owner: 'ann' });
  await expect.poll(() => second.recover()).toBe(1);
  expect(ran).not.toContain('first');
  const status = async (): Promise<string> => (await second.get(id, { owner: 'ann' })).status;
  await expect.poll(status).toBe('completed');
  asleep.wake();
  await sleep(100);
  expect(ran).toEqual(['second']);
  await Promise.all([first.close(), second.close()]);
});
