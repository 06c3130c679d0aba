/** Begins a session whose tool never ends, says its id, and waits to be killed. */
import { AgentBuilder, defineTool, SessionRuntime } from 'onward';
import { sqliteStore } from 'onward/stores/sqlite';
import * as z from 'zod';
import { scriptedDriver } from './scenario.mjs';

const [, , path] = process.argv;
const hang = defineTool({
  name: 'add',
  description: 'Never ends.',
  parameters: z.object({ a: z.number(), b: z.number() }),
  idempotent: true,
  execute: () => {
    console.log(id);
    return new Promise(() => {});
  },
});
const agent = AgentBuilder.base().withDriver(scriptedDriver(20)).withTools(hang).build();
const lease = { leaseMs: 1_000, heartbeatMs: 300, signalMs: 200 };
const runtime = new SessionRuntime({ store: sqliteStore({ path }), agents: [agent], lease });
const { id } = await runtime.create({ owner: 'bench' });
await runtime.send(id, 'add numbers', { owner: 'bench' });
