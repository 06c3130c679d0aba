import { createAgent, defineTool, SessionRuntime } from 'onward';
import { sqliteStore } from 'onward/stores/sqlite';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';

/** A worker that begins a tool and never ends it, until it is killed. */
const hangs = defineTool({
  name: 'hangs',
  description: 'Never ends.',
  idempotent: true,
  execute() {
    console.log('tool began');
    return new Promise(() => {});
  },
});
const agent = createAgent({
  name: 'support',
  driver: DeterministicDriver.fromSteps(ScenarioStep.toolCall('hangs')),
  tools: [hangs],
});
const runtime = new SessionRuntime({
  store: sqliteStore({ path: process.argv[2] ?? '' }),
  agents: [agent],
  lease: { leaseMs: 1_500, heartbeatMs: 300 },
});
runtime.start();
await runtime.create({ id: 'held', owner: 'ann' });
await runtime.send('held', 'go', { owner: 'ann' });
