import { createAgent, defineTool, SessionRuntime } from 'onward';
import { sqliteStore } from 'onward/stores/sqlite';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';

/** A small server that runs a session and closes on request. */
const store = sqliteStore({ path: process.argv[2] ?? '' });
const slow = defineTool({
  name: 'slow',
  description: 'Takes a moment.',
  async execute() {
    console.log('tool began');
    await new Promise((resolve) => {
      setTimeout(resolve, 150);
    });
    console.log('tool ended');
    return 'ok';
  },
});
const driver = DeterministicDriver.fromSteps(
  ScenarioStep.toolCalls([{ name: 'slow', id: 't0s0c0' }]),
);
const agent = createAgent({ name: 'support', driver, tools: [slow] });
const runtime = new SessionRuntime({ store, agents: [agent] });
process.once('SIGTERM', () => {
  void runtime.close().then(async () => {
    await store.close();
    console.log('closed');
  });
});
runtime.start();
await runtime.create({ id: 's', owner: 'ann' });
await runtime.send('s', 'go', { owner: 'ann' });
