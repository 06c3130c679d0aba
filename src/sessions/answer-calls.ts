import type { AgentState } from '../agent/agent-state.ts';
import { isOpen } from '../agent/agent-status.ts';
import type { ApprovalAnswer } from '../agent/approval-answer.ts';
import { isoTime } from '../clock.ts';
import { withinAllowance } from '../continuation/grant-allowance.ts';
import { checkedGrant, grantKinds, type Grants } from '../continuation/grants.ts';
import { invalidOption } from '../errors/agent-error.ts';
import type { GrantOrder } from './grant-order.ts';
import type { SessionCrew } from './session-crew.ts';
import {
  answeredBefore,
  awaitingApproval,
  executionOver,
  grantRefused,
  notWaiting,
  sessionBusy,
} from './session-errors.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { OwnerOptions, ResumeSessionOptions } from './session-options.ts';
import type { SessionRow } from './session-rows.ts';

/** Answers one call that waits for a person; the id of its execution. */
export async function answerCall(
  lookup: SessionLookup,
  crew: SessionCrew,
  given: OwnerOptions & {
    readonly sessionId: string;
    readonly callId: string;
    readonly answer: ApprovalAnswer;
  },
): Promise<string | null> {
  const { sessionId, owner, callId, answer } = given;
  const row = await lookup.workable(sessionId, owner);
  if (row.phase === 'idle') throw executionOver(sessionId, callId, row.status);
  if ((await lookup.waiting(row)).includes(callId)) {
    const { state } = await lookup.load(row);
    await lookup.agentFor(row.agent).checkAnswer(state, callId, answer);
  }
  await decide(lookup, crew, row, callId, answer);
  await crew.enqueue(sessionId);
  return row.executionId;
}

/** Stores the answers, and the wish to go on; the id of the execution that does. */
export async function resumeSession(
  lookup: SessionLookup,
  crew: SessionCrew,
  sessionId: string,
  options: ResumeSessionOptions,
): Promise<string> {
  const { owner, approvals, grant } = options;
  const row = await lookup.workable(sessionId, owner);
  const answers = Object.entries(approvals ?? {});
  if (row.phase === 'open' && answers.length === 0) throw sessionBusy(row);
  const { state } = await lookup.load(row, { wholeExecution: true });
  const order = grant && (await orderOf(lookup, row, state, grant, options));
  await lookup.agentFor(row.agent).checkResume(state, {
    ...(approvals && { approvals }),
    ...(grant && { grant }),
  });
  if (state.pendingApprovals.length > 0 && answers.length === 0)
    throw awaitingApproval(sessionId, await lookup.waiting(row));
  try {
    for (const [callId, answer] of answers) await decide(lookup, crew, row, callId, answer);
    if (grant || answers.length === 0)
      await crew.acceptResume(row, order ?? null, answers.length > 0);
  } finally {
    // where one of several came too late, the others count
    if (answers.length > 0) await crew.enqueue(sessionId);
  }
  return state.execution.id;
}

/** A grant with who gives it; an owner's has to fit into what owners may still grant. */
async function orderOf(
  lookup: SessionLookup,
  row: SessionRow,
  state: AgentState,
  grant: Grants,
  { owner, by = owner, authority = 'operator', grants: policy }: ResumeSessionOptions,
): Promise<GrantOrder> {
  const at = isoTime(lookup.clock.now());
  const checked = checkedGrant(grant);
  if (authority === 'operator') return { grant: checked, by, at, authority };
  if (authority !== 'owner') throw invalidOption('authority', authority, "'owner' or 'operator'");
  const { execution, lastContinuationOutcome: outcome } = state;
  const { caps, allowance } = await lookup.ownersGrants(row, { execution, outcome }, policy, grant);
  const { left } = allowance;
  const covered = withinAllowance(checked, left);
  if (isCovered(checked, covered)) return { grant: covered, by, at, authority, caps };
  const accepted = isOpen(state.status) ? covered : allowance.grant;
  throw grantRefused(row.id, checked, left, accepted);
}

/** Up to what sums of fractions lose. */
const isCovered = (grant: Grants, covered: Grants | null): covered is Grants =>
  covered !== null && grantKinds.every((kind) => (grant[kind] ?? 0) <= (covered[kind] ?? 0) + 1e-6);

async function decide(
  lookup: SessionLookup,
  crew: SessionCrew,
  row: SessionRow,
  callId: string,
  answer: ApprovalAnswer,
): Promise<void> {
  const said = await crew.decide(row, callId, answer);
  if (said === 'answered') throw answeredBefore(row.id, callId);
  if (said === 'unknown') throw notWaiting(row.id, callId, await lookup.waiting(row));
  if (said === 'over') throw executionOver(row.id, callId, row.status);
}
