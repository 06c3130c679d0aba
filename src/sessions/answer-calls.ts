import type { AgentState } from '../agent/agent-state.ts';
import { isOpen } from '../agent/agent-status.ts';
import { checkAnswer, type ApprovalAnswer, type GivenAnswer } from '../agent/approval-answer.ts';
import { isoTime } from '../clock.ts';
import { withinAllowance } from '../continuation/grant-allowance.ts';
import { checkedGrant, grantKinds, type Grants } from '../continuation/grants.ts';
import { invalidOption } from '../errors/agent-error.ts';
import { own } from '../json.ts';
import { sessionParked } from './attempts.ts';
import type { GrantOrder } from './grant-order.ts';
import type { SessionScheduler } from './session-scheduler.ts';
import {
  answeredBefore,
  awaitingApproval,
  executionOver,
  grantRefused,
  notWaiting,
  sessionBusy,
  staleAnswer,
  stoppedOnRow,
} from './session-errors.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { OwnerOptions, ResumeSessionOptions } from './session-options.ts';
import type { SessionRow } from './session-rows.ts';

/** Answers one call that waits for a person; the id of its execution. */
export async function answerCall(
  lookup: SessionLookup,
  scheduler: SessionScheduler,
  given: OwnerOptions & {
    readonly sessionId: string;
    readonly callId: string;
    readonly answer: ApprovalAnswer;
    readonly by: string;
  },
): Promise<string | null> {
  const { sessionId, owner, callId, answer, by } = given;
  checkAnswer(callId, answer);
  const said: GivenAnswer = { ...answer, by, at: isoTime(lookup.clock.now()) };
  for (let tries = 1; ; tries++) {
    const row = await lookup.workable(sessionId, owner);
    checkNamed(row, callId, answer);
    if (row.phase === 'idle') throw executionOver(sessionId, callId, row.status);
    await checkWaits(lookup, row, callId);
    const { state } = await lookup.load(row);
    const bound = await lookup.agentFor(row.agent).checkAnswer(state, callId, said);
    if (!bound) {
      // it began to wait after the row was read
      if (tries < 3) continue;
      throw notWaiting(sessionId, callId, await lookup.waiting(row));
    }
    await decide(lookup, scheduler, row, callId, bound, answer.executionId !== undefined);
    await scheduler.enqueue(sessionId);
    return row.executionId;
  }
}

/** An answer to another execution is for another call, though it may have the same id. */
function checkNamed(
  { id, executionId: current }: SessionRow,
  callId: string,
  { executionId }: ApprovalAnswer,
): void {
  if (executionId !== undefined && executionId !== current)
    throw staleAnswer(id, callId, current, executionId);
}

async function checkWaits(lookup: SessionLookup, row: SessionRow, callId: string): Promise<void> {
  const { id, executionId } = row;
  const [call] = await lookup.store.calls(id, executionId ?? '', { callIds: [callId] });
  if (call?.state === 'waiting') return;
  if (call && call.answer !== null) throw answeredBefore(id, callId);
  throw notWaiting(id, callId, await lookup.waiting(row));
}

/** Stores the answers and the request to continue. Returns the id of the execution. */
export async function resumeSession(
  lookup: SessionLookup,
  scheduler: SessionScheduler,
  sessionId: string,
  options: ResumeSessionOptions,
): Promise<string> {
  const { owner, approvals = {}, grant, by = owner } = options;
  const row = await lookup.workable(sessionId, owner);
  const given = Object.entries(approvals);
  for (const [callId, answer] of given) {
    checkAnswer(callId, answer);
    checkNamed(row, callId, answer);
  }
  if (row.phase === 'open' && given.length === 0) throw sessionBusy(row);
  // answers wait with it; what asks it to continue does not
  if (row.closeReason !== null && !grant) throw stoppedOnRow(row);
  if (row.phase === 'parked' && (grant || given.length === 0)) throw sessionParked(row);
  const { state } = await lookup.load(row, { wholeExecution: true });
  const order = grant && (await orderOf(lookup, row, state, grant, options));
  const answers = await lookup.agentFor(row.agent).checkResume(state, {
    ...(given.length > 0 && { approvals }),
    ...(grant && { grant }),
    by,
  });
  if (state.pendingApprovals.length > 0 && answers.size === 0)
    throw awaitingApproval(sessionId, await lookup.waiting(row));
  try {
    for (const [callId, answer] of answers) {
      const isNamed = own(approvals, callId)?.executionId !== undefined;
      await decide(lookup, scheduler, row, callId, answer, isNamed);
    }
    if (grant || answers.size === 0)
      await scheduler.acceptResume(row, order ?? null, answers.size > 0);
  } finally {
    // where one of several came too late, the others count
    if (answers.size > 0) await scheduler.enqueue(sessionId);
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
  scheduler: SessionScheduler,
  row: SessionRow,
  callId: string,
  answer: GivenAnswer,
  isNamed: boolean,
): Promise<void> {
  const said = await scheduler.decide(row, callId, answer, isNamed);
  if (said === 'answered') throw answeredBefore(row.id, callId);
  if (said === 'unknown') throw notWaiting(row.id, callId, await lookup.waiting(row));
  if (said === 'ambiguous') throw staleAnswer(row.id, callId, row.executionId);
  if (said !== 'over') return;
  const { status, executionId } = await lookup.owned(row.id, row.owner);
  if (executionId !== row.executionId)
    throw staleAnswer(row.id, callId, executionId, row.executionId);
  throw executionOver(row.id, callId, status);
}
