/** A tool that needs approval: the run pauses, is stored overnight, and another process continues it. */
import { AgentState, createAgent, defineTool, type InferenceDriver } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import * as z from 'zod';

const leads = new Map([
  ['L-1', 'Ada'],
  ['L-2', 'Grace'],
]);

const deleteLead = defineTool({
  name: 'delete_lead',
  description: 'Deletes a lead permanently.',
  parameters: z.object({ id: z.string() }),
  needsApproval: true,
  execute: ({ id }) => ({ deleted: leads.delete(id) }),
});

const assistant = (model: InferenceDriver) =>
  createAgent({ name: 'leads', model, tools: [deleteLead] });

// in the evening: the model wants to delete, and no approver is there
const evening = assistant(
  DeterministicDriver.fromSteps(ScenarioStep.toolCall('delete_lead', { id: 'L-2' })),
);
const paused = await evening.run('Please delete lead L-2.');
const row = JSON.stringify(paused);
console.log(paused.status, paused.pendingApprovals[0]?.tool, paused.pendingApprovals[0]?.args);

// in the morning: another process, the same agent, only the row
const morning = assistant(DeterministicDriver.fromSteps(ScenarioStep.final('Lead L-2 is gone.')));
const restored = AgentState.from(JSON.parse(row));
const [waiting] = restored.pendingApprovals;
const done = await morning.resume(restored, {
  approvals: { [waiting?.callId ?? '']: { approve: true } },
});
console.log(done.status, done.output, [...leads.keys()]);

/* prints
paused delete_lead { id: 'L-2' }
completed Lead L-2 is gone. [ 'L-1' ]
*/
