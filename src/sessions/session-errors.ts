import type { GrantAllowance } from '../continuation/grant-allowance.ts';
import { grantKinds, type Grants } from '../continuation/grants.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { defaultRedactor } from '../errors/redactor.ts';
import { failureText } from './failure-text.ts';
import { READS, type SessionRow } from './session-rows.ts';
import type { WaitingLimit } from './store-requests.ts';

/** Error for a missing session, and for one of another owner, so that its existence is not disclosed. */
export const sessionNotFound = (sessionId: string): AgentError =>
  new AgentError(
    'session_not_found',
    `There is no session ${show(sessionId)} of this owner. List them with list({ owner }).`,
    { details: { sessionId } },
  );

/** Error for a session that a newer release wrote. This release would lose fields that it does not know. */
export const newerSession = ({ id, requires }: SessionRow): AgentError =>
  new AgentError(
    'unsupported_state_version',
    `Session ${show(id)} was written by a newer release of onward: it requires ${requires}, and this one reads up to ` +
      `${READS}. Upgrade onward here, or use a process that runs that release.`,
    { details: { sessionId: id, requires, reads: READS } },
  );

export const sessionBusy = ({ id, executionId }: SessionRow): AgentError =>
  new AgentError(
    'conflict',
    `Session ${show(id)} is busy. Wait for it to end, call stop(), ` +
      `or let the message wait with { whenBusy: 'queue' }.`,
    { details: { sessionId: id, executionId } },
  );

/** Error for a message beyond `limit`, the most that may wait in one session. */
export const tooManyWaiting = (sessionId: string, limit: WaitingLimit): AgentError =>
  new AgentError(
    'queue_full',
    `Session ${show(sessionId)} accepts no more messages now: at most ${limit.commands} messages with ${limit.bytes} ` +
      'bytes in total may wait. Wait until it has answered some, or call stop().',
    { details: { sessionId, ...limit } },
  );

export const awaitingApproval = (sessionId: string, callIds: readonly string[]): AgentError =>
  new AgentError(
    'awaiting_approval',
    callIds.length > 0
      ? `Session ${show(sessionId)} waits for an answer to ${callIds.join(', ')}: approve() or deny() each, or stop().`
      : `Session ${show(sessionId)} is paused: continue it with resume(), or end it with stop().`,
    { details: { sessionId, pending: callIds } },
  );

export const changedMeanwhile = (sessionId: string): AgentError =>
  new AgentError(
    'conflict',
    `Session ${show(sessionId)} has changed. Read it with get(), then try again.`,
    { details: { sessionId } },
  );

export const stoppedOnRow = ({ id, status }: SessionRow): AgentError =>
  new AgentError(
    'not_resumable',
    `The execution of session ${show(id)} was stopped. Send a new message, or resume it with a grant.`,
    { details: { sessionId: id, status, missing: [] } },
  );

export const idTaken = (sessionId: string): AgentError =>
  new AgentError(
    'conflict',
    `The session id ${show(sessionId)} is taken. Choose another, or leave it out.`,
    { details: { sessionId } },
  );

export const executionTaken = (sessionId: string, executionId: string): AgentError =>
  new AgentError(
    'conflict',
    `Execution ${show(executionId)} of session ${show(sessionId)} belongs to a message with other content. ` +
      'Send that message again as it was, or choose another executionId.',
    { details: { sessionId, executionId } },
  );

/** Error for an owner who asks for more than owners may grant. `grant` is the grant that would be accepted. */
export function grantRefused(
  sessionId: string,
  requested: Grants,
  left: GrantAllowance['left'],
  grant: Grants | null,
): AgentError {
  const kinds = grantKinds.filter((kind) => requested[kind] !== undefined);
  const rest = kinds.map((kind) => `${kind}: ${left[kind] ?? 0}`).join(', ');
  const todo = grant
    ? `Grant { ${amounts(grant)} } or less, or let an operator raise the limit.`
    : 'Let an operator raise the limit, or send a new message.';
  return new AgentError(
    'grant_refused',
    `The owner of session ${show(sessionId)} asked for { ${amounts(requested)} }, but owners may still grant only ` +
      `{ ${rest} } to this execution. ${todo}`,
    {
      details: {
        sessionId,
        requested,
        allowance: Object.fromEntries(kinds.map((kind) => [kind, left[kind] ?? 0])),
        grant,
      },
    },
  );
}

const amounts = (grant: Grants): string =>
  Object.entries(grant)
    .map(([kind, amount]) => `${kind}: ${amount}`)
    .join(', ');

export const rowTooLarge = (what: string, bytes: number, maxBytes: number): AgentError =>
  new AgentError(
    'state_too_large',
    `The ${what} has ${bytes} bytes, but the store accepts at most ${maxBytes} per row. ` +
      'Return less from tools (maxResultChars), store files elsewhere and pass links, or raise maxBytes of the store.',
    { details: { what, bytes, maxBytes } },
  );

const UNWRITABLE = 'unwritable';

/** Error for a value that JSON, the codec or the store refuses for a reason other than its size. */
export const notWritable = (cause: unknown): AgentError =>
  new AgentError(
    'invalid_state',
    `The work of the agent cannot be stored: ${failureText(cause, defaultRedactor).replace(/\.$/, '')}. ` +
      'Return plain JSON from tools, and check the codec of the store.',
    { cause, details: { reason: UNWRITABLE } },
  );

/** Whether a write failed because of its content, so that the same write would fail again. */
export const isOfContent = (error: unknown): error is AgentError =>
  AgentError.is(error, 'state_too_large') ||
  (AgentError.is(error, 'invalid_state') && error.details['reason'] === UNWRITABLE);

export const answeredBefore = (sessionId: string, callId: string): AgentError =>
  new AgentError('conflict', `Call ${callId} was answered before; each call is answered once.`, {
    details: { sessionId, callId },
  });

/**
 * Error for an answer to another execution. Without `given`, the answer names no execution, and several executions had
 * a pending call with this id.
 */
export const staleAnswer = (
  sessionId: string,
  callId: string,
  executionId: string | null,
  given: string | null = null,
): AgentError =>
  new AgentError(
    'stale_approval',
    (given === null
      ? `The answer for call ${show(callId)} names no execution, and more than one execution of session ` +
        `${show(sessionId)} had a pending call with this id`
      : `The answer for call ${show(callId)} was given in execution ${show(given)}, and session ` +
        `${show(sessionId)} is in execution ${show(executionId)}`) +
      '. Nothing was run. Read pendingApprovals with get(), then answer with their executionId and argsHash.',
    { details: { sessionId, callId, executionId } },
  );

export const notWaiting = (
  sessionId: string,
  callId: string,
  waiting: readonly string[],
): AgentError =>
  new AgentError(
    'unknown_approval',
    `Call ${show(callId)} is not waiting for approval. Waiting: ${waiting.join(', ') || 'none'}.`,
    { details: { sessionId, callId, pending: waiting } },
  );

export const executionOver = (sessionId: string, callId: string, status: string): AgentError =>
  new AgentError(
    'not_resumable',
    `The execution is ${status}, so the answer for ${show(callId)} comes too late: nothing was run.`,
    { details: { sessionId, callId, status, missing: [] } },
  );
