/**
 * A workflow that waits for a person overnight. In the evening it runs until money would leave, writes itself into a
 * SQLite file, and the process ends. In the morning another process lists what waits, a person changes the amount and
 * says yes, and the workflow continues: what ran in the evening does not run again.
 *
 *   npm run build && npx jiti examples/overnight-approval/evening.ts "Settle INV-7 over 900 euros"
 *   npx jiti examples/overnight-approval/morning.ts                              lists what waits
 *   npx jiti examples/overnight-approval/morning.ts <call> '{"invoice":"INV-7","euros":450}'
 *   cat ledger.log                                                               each line once
 *
 * The model is scripted, so that it runs without a key; office.ts has the line that makes it real.
 */
import { openOffice, owner } from './office.ts';

const { runtime, close } = openOffice();
const { id } = await runtime.create({ owner });
const order = process.argv[2] ?? 'Settle INV-7 over 900 euros';
const session = await runtime.send(id, order, { owner, wait: true });

console.log(`${id} is ${session.status} after step ${session.stepCount}.`);
for (const { callId, tool, args } of session.pendingApprovals)
  console.log(`  ${callId}  ${tool} ${JSON.stringify(args)}  waits for a person`);
await close();
