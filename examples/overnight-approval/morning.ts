/** The next morning, in another process: evening.ts says how to run it. */
import { AgentError, type PendingApproval } from 'onward';
import { openOffice, owner } from './office.ts';

const [callId, changed] = process.argv.slice(2);
const { runtime, close } = openOffice();
const { sessions } = await runtime.list({ owner, status: 'paused' });

if (callId === undefined) {
  console.log(`Sessions that wait: ${sessions.length}`);
  for (const { id, title, pendingApprovals } of sessions)
    for (const { callId, tool, args } of pendingApprovals)
      console.log(`  ${callId}  ${tool} ${JSON.stringify(args)}  in ${id}: ${title}`);
} else {
  try {
    const session = sessions.find(({ pendingApprovals }) =>
      pendingApprovals.some((call) => call.callId === callId),
    );
    if (!session) throw new Error(`No call ${callId} waits: it was answered, or never asked.`);
    const args =
      changed === undefined ? {} : { args: JSON.parse(changed) as PendingApproval['args'] };
    const done = await runtime.approve(session.id, callId, { owner, ...args, wait: true });
    console.log(`${done.id} is ${done.status}: ${String(done.output)}`);
    console.log(done.outcome?.explain().split('\n')[0]);
  } catch (error) {
    // two people may answer at once: the store takes one of them
    console.error(AgentError.is(error) ? `${error.code}: ${error.message}` : String(error));
    process.exitCode = 1;
  }
}
await close();
