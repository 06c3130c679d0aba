import { createAgent, defineTool, SessionRuntime } from 'onward';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';

export async function main(): Promise<string> {
  const add = defineTool({
    name: 'add',
    description: 'Adds two numbers.',
    parameters: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
    execute: ({ a, b }) => a + b,
  });
  const driver = DeterministicDriver.fromSteps(
    ScenarioStep.toolCall('add', { a: 1, b: 2 }),
    ScenarioStep.final('3'),
  );
  const state = await createAgent({ driver, tools: [add] }).run('1 + 2?');
  return `${state.status}: ${String(state.output)}`;
}

/** Runs a session over a pause, in two runtimes. */
export async function sessions(): Promise<string> {
  const store = memoryStore();
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    needsApproval: true,
    execute: () => 'x'.repeat(20_000),
  });
  const runtimeWith = (...steps: ScenarioStep[]): SessionRuntime => {
    const driver = DeterministicDriver.fromSteps(...steps);
    return new SessionRuntime({ store, agents: [createAgent({ driver, tools: [pay] })] });
  };
  const owner = 'ann';
  const first = runtimeWith(ScenarioStep.toolCall('pay'));
  const { id } = await first.create({ owner });
  const { pendingApprovals } = await first.send(id, 'go', { owner, wait: true });
  await first.close();
  const second = runtimeWith(ScenarioStep.final('paid'));
  const callId = pendingApprovals[0]?.callId ?? '';
  const { status, output } = await second.approve(id, callId, { owner, wait: true });
  const { events } = await second.events(id, { owner });
  const { sessions: listed } = await second.list({ owner, limit: 1 });
  await second.close();
  return `${status}: ${String(output)}, ${events.length} events, ${listed.length} listed`;
}
