import type { ApprovalAnswer } from '../agent/approval-answer.ts';
import { AgentError } from '../errors/agent-error.ts';
import { resumeSession } from './answer-calls.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { ApproveAllOptions } from './session-options.ts';
import type { SessionWorker } from './session-worker.ts';

/** Approves the named calls, or all that wait now. Returns the id of their execution. */
export async function approveAll(
  lookup: SessionLookup,
  worker: SessionWorker,
  sessionId: string,
  { calls, ...options }: ApproveAllOptions,
): Promise<string> {
  const row = await lookup.changeable(sessionId, options.owner);
  const { status, pendingApprovals } = await lookup.view(row);
  const given = calls ?? pendingApprovals;
  if (given.length === 0)
    throw new AgentError(
      'unknown_approval',
      calls
        ? 'approveAll got an empty list of calls, and nothing was run. Leave it out to approve all calls that wait.'
        : `Session "${sessionId}" needs no approval: it is ${status.replace('_', ' ')}.`,
      { details: { sessionId, pending: pendingApprovals.map(({ callId }) => callId) } },
    );
  const approvals = Object.fromEntries(
    given.map(({ callId, executionId, argsHash }): [string, ApprovalAnswer] => [
      callId,
      { approve: true, executionId, argsHash },
    ]),
  );
  return resumeSession(lookup, worker, sessionId, { ...options, approvals });
}
