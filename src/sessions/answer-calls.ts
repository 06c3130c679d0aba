import type { AgentState } from '../agent/agent-state.ts';
import { isOpen } from '../agent/agent-status.ts';
import { checkAnswer, type ApprovalAnswer, type GivenAnswer } from '../agent/approval-answer.ts';
import { isoTime } from '../clock.ts';
import { withinAllowance } from '../continuation/grant-allowance.ts';
import { checkedGrant, grantKinds, type Grants } from '../continuation/grants.ts';
import { invalidOption } from '../errors/agent-error.ts';
import { own } from '../json.ts';
import { sessionParked } from './attempts.ts';
import { plainBody } from './row-writer.ts';
import {
  answeredBefore,
  awaitingApproval,
  changedMeanwhile,
  executionOver,
  grantRefused,
  notWaiting,
  sessionBusy,
  sessionNotFound,
  staleAnswer,
  stoppedOnRow,
} from './session-errors.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { AnswerOptions, ApproveOptions, ResumeSessionOptions } from './session-options.ts';
import type { SessionRow } from './session-rows.ts';
import type { CommandBody, GrantOrder } from './session-task.ts';
import type { SessionWorker } from './session-worker.ts';
import { GRANT_LOG_REQUIRES } from './state-rows.ts';

/** Returns the answer that approves a call with these options. */
export const approvalOf = ({ args, remember }: ApproveOptions): ApprovalAnswer => ({
  approve: true,
  ...(args !== undefined && { args }),
  ...(remember !== undefined && { remember }),
});

/** Answers one call that needs approval. Returns the id of its execution. */
export async function answerCall(
  lookup: SessionLookup,
  worker: SessionWorker,
  sessionId: string,
  callId: string,
  decision: ApprovalAnswer,
  options: AnswerOptions,
): Promise<string | null> {
  const { owner, by = owner, executionId, argsHash } = options;
  const answer = { ...decision, executionId, argsHash };
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
      // the call began to wait after the row was read
      if (tries < 3) continue;
      throw notWaiting(sessionId, callId, await lookup.waiting(row));
    }
    await decide(lookup, row, callId, bound, executionId !== undefined);
    await worker.wake(row);
    return row.executionId;
  }
}

/** Rejects an answer to another execution: its call is a different one, even if the id is the same. */
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
  worker: SessionWorker,
  sessionId: string,
  options: ResumeSessionOptions,
): Promise<string> {
  const { owner, approvals = {}, grant, by = owner } = options;
  // an option of `agent.resume`, which the types here do not have
  if ('inputs' in options)
    throw invalidOption(
      'resume inputs',
      options.inputs,
      'no inputs: answer each question with runtime.answer(id, inputId, { owner, answer })',
    );
  const row = await lookup.workable(sessionId, owner);
  const given = Object.entries(approvals);
  for (const [callId, answer] of given) {
    checkAnswer(callId, answer);
    checkNamed(row, callId, answer);
  }
  if (row.phase === 'open' && given.length === 0) throw sessionBusy(row);
  // a stopped session still accepts answers, but continues only with a grant
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
      await decide(lookup, row, callId, answer, isNamed);
    }
    if (grant || answers.size === 0) await accept(lookup, row, order ?? null, answers.size > 0);
  } finally {
    // if one of several answers came too late, the others still count
    await worker.wake(row);
  }
  return state.execution.id;
}

/** Stores the request to continue, unless the session has changed. After answers the session may be open already. */
async function accept(
  lookup: SessionLookup,
  { id, agent, executionId, revision }: SessionRow,
  order: GrantOrder | null,
  hasAnswers: boolean,
): Promise<void> {
  const { store, clock } = lookup;
  const trace = lookup.agentNamed(agent)?.trace() ?? {};
  const asked = { ...(order ?? { grant: null }), ...trace } satisfies CommandBody;
  const body = await plainBody(store, asked);
  const said = await store.accept(
    id,
    {
      kind: 'resume',
      executionId: executionId ?? '',
      body,
      at: isoTime(clock.now()),
      // an earlier release would apply the grant without recording it
      ...(order && { requires: GRANT_LOG_REQUIRES }),
    },
    hasAnswers ? { phases: ['open', 'paused'] } : { phases: ['idle', 'paused'], revision },
  );
  if (said === null) throw sessionNotFound(id);
  if (!said.accepted) throw changedMeanwhile(id);
}

/** Builds the order for a grant. Throws if an owner asks for more than owners may still grant. */
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

/** Whether the allowance covers the grant. Tolerates the rounding error of summed fractions. */
const isCovered = (grant: Grants, covered: Grants | null): covered is Grants =>
  covered !== null && grantKinds.every((kind) => (grant[kind] ?? 0) <= (covered[kind] ?? 0) + 1e-6);

async function decide(
  lookup: SessionLookup,
  row: SessionRow,
  callId: string,
  answer: GivenAnswer,
  isNamed: boolean,
): Promise<void> {
  const { store, clock } = lookup;
  const said = await store.decide(row.id, {
    executionId: row.executionId ?? '',
    callId,
    body: await plainBody(store, { ...answer, ...lookup.agentNamed(row.agent)?.trace() }),
    at: isoTime(clock.now()),
    ...(!isNamed && { ifUnambiguous: true }),
  });
  if (said === 'answered') throw answeredBefore(row.id, callId);
  if (said === 'unknown') throw notWaiting(row.id, callId, await lookup.waiting(row));
  if (said === 'ambiguous') throw staleAnswer(row.id, callId, row.executionId);
  if (said !== 'over') return;
  const { status, executionId } = await lookup.owned(row.id, row.owner);
  if (executionId !== row.executionId)
    throw staleAnswer(row.id, callId, executionId, row.executionId);
  throw executionOver(row.id, callId, status);
}
