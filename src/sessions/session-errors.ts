import type { GrantAllowance } from '../continuation/grant-allowance.ts';
import { grantKinds, type Grants } from '../continuation/grants.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { defaultRedactor } from '../errors/redactor.ts';
import { failureText } from './attempts.ts';
import { READS, type SessionRow } from './session-rows.ts';
import type { WaitingLimit } from './store-requests.ts';

/** Also for a session of another owner: its existence is not disclosed. */
export const sessionNotFound = (sessionId: string): AgentError =>
  new AgentError(
    'session_not_found',
    `There is no session ${show(sessionId)} of this owner. List them with list({ owner }).`,
    { details: { sessionId } },
  );

/** A release that came later wrote it; this one would lose what it does not know. */
export const newerSession = ({ id, requires }: SessionRow): AgentError =>
  new AgentError(
    'unsupported_state_version',
    `Session ${show(id)} was written by a newer release of onward: it requires ${requires}, and this one reads up to ` +
      `${READS}. Upgrade onward here, or ask a process that has that release.`,
    { details: { sessionId: id, requires, reads: READS } },
  );

export const sessionBusy = ({ id, executionId }: SessionRow): AgentError =>
  new AgentError(
    'conflict',
    `Session ${show(id)} is busy. Wait for it to end, call stop(), ` +
      `or let the message wait with { whenBusy: 'queue' }.`,
    { details: { sessionId: id, executionId } },
  );

/** `limit` is what may wait in one session. */
export const tooManyWaiting = (sessionId: string, limit: WaitingLimit): AgentError =>
  new AgentError(
    'queue_full',
    `Session ${show(sessionId)} takes no more messages now: at most ${limit.commands} of them, with ${limit.bytes} ` +
      'bytes together, may wait in a session. Wait until it has answered some, or stop it with stop().',
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

/** An owner asked for more than owners may grant; `grant` is what would be accepted. */
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
    `The owner of session ${show(sessionId)} asked for { ${amounts(requested)} }, and what owners may still grant to ` +
      `this execution is { ${rest} }. ${todo}`,
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
    `The ${what} takes ${bytes} bytes, and the store takes ${maxBytes} in one row. ` +
      'Return less from tools (maxResultChars), keep files elsewhere and pass links, or raise maxBytes of the store.',
    { details: { what, bytes, maxBytes } },
  );

const UNWRITABLE = 'unwritable';

/** What was to be written cannot be, whatever its size: JSON, the codec or the store does not take it. */
export const notWritable = (cause: unknown): AgentError =>
  new AgentError(
    'invalid_state',
    `What the agent did cannot be written down: ${failureText(cause, defaultRedactor).replace(/\.$/, '')}. ` +
      'Return plain JSON from tools, and check the codec of the store.',
    { cause, details: { reason: UNWRITABLE } },
  );

/** Whether a write failed because of what was to be written: the same write would fail again. */
export const isOfContent = (error: unknown): error is AgentError =>
  AgentError.is(error, 'state_too_large') ||
  (AgentError.is(error, 'invalid_state') && error.details['reason'] === UNWRITABLE);

export const answeredBefore = (sessionId: string, callId: string): AgentError =>
  new AgentError('conflict', `Call ${callId} was answered before; each call is answered once.`, {
    details: { sessionId, callId },
  });

/** Without `given`, the answer names no execution, and others of the session have let a call with this id wait. */
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
        `${show(sessionId)} has let a call with this id wait`
      : `The answer for call ${show(callId)} was given in execution ${show(given)}, and session ` +
        `${show(sessionId)} is in execution ${show(executionId)}`) +
      '. Nothing was run. Look at pendingApprovals with get(), and answer with the executionId and argsHash that they show.',
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
