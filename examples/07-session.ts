/** A conversation in a SQLite file: one process starts it, a person approves a call, and another process continues. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentError, createAgent, defineTool, SessionRuntime, type InferenceDriver } from 'onward';
import { sqliteStore } from 'onward/stores/sqlite';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import * as z from 'zod';

const folder = mkdtempSync(join(tmpdir(), 'onward-'));
const owner = 'ada';

const refund = defineTool({
  name: 'refund',
  description: 'Pays an order back.',
  parameters: z.object({ order: z.string(), euros: z.number() }),
  needsApproval: true,
  execute: ({ order, euros }) => `${euros} euros for ${order} are on their way`,
});

/** What each process does when it starts. */
function startProcess(model: InferenceDriver) {
  const support = createAgent({ name: 'support', model, tools: [refund] });
  const store = sqliteStore({ path: join(folder, 'sessions.db') });
  const runtime = new SessionRuntime({ store, agents: [support] });
  const stop = async () => {
    await runtime.close();
    await store.close();
  };
  return { runtime, stop };
}

// in the evening
const evening = startProcess(
  DeterministicDriver.fromSteps(ScenarioStep.toolCall('refund', { order: 'A-1001', euros: 90 })),
);
const { id } = await evening.runtime.create({ owner });
const paused = await evening.runtime.send(id, 'My lamp is broken.', { owner, wait: true });
console.log(paused.status, paused.pendingApprovals[0]?.args);
await evening.stop();

// in the morning: another process, which knows the file and the session's id
const morning = startProcess(DeterministicDriver.fromSteps(ScenarioStep.final('Sorry! 80 euros.')));
const [waiting] = (await morning.runtime.get(id, { owner })).pendingApprovals;
const callId = waiting?.callId ?? '';
const args = { order: 'A-1001', euros: 80 };
const done = await morning.runtime.approve(id, callId, { owner, args, wait: true });
console.log(done.status, done.output);

// a second click, and what the conversation has become
await morning.runtime.approve(id, callId, { owner }).catch((error: unknown) => {
  if (AgentError.is(error)) console.log(error.code);
});
for (const { role, content } of (await morning.runtime.messages(id, { owner })).items)
  if (typeof content === 'string' && content !== '') console.log(`${role}: ${content}`);

await morning.stop();
rmSync(folder, { recursive: true });

/* prints
paused { order: 'A-1001', euros: 90 }
completed Sorry! 80 euros.
not_resumable
user: My lamp is broken.
tool: [A person changed the arguments to {"order":"A-1001","euros":80} before this ran.]
80 euros for A-1001 are on their way
assistant: Sorry! 80 euros.
*/
