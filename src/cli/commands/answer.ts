import { AgentError } from '../../errors/agent-error.ts';
import type { PendingApproval } from '../../events/agent-event.ts';
import type { Session } from '../../sessions/session.ts';
import { argsFrom, type Answer } from '../ask-approval.ts';
import type { CliContext } from '../cli-context.ts';
import { findSession } from '../find-session.ts';
import { askedText, oneLine, shortId } from '../format.ts';
import { giveAnswer } from '../give-answer.ts';
import { usageError } from '../usage-error.ts';
import { withWork, type WorkOptions } from '../with-work.ts';

interface AnswerOptions extends WorkOptions {
  /** Id of the execution in which the user saw the call, or its beginning. */
  readonly execution?: string;
}

export interface ApproveOptions extends AnswerOptions {
  readonly args?: string;
  readonly all?: boolean;
  readonly remember?: boolean;
}

export interface DenyOptions extends AnswerOptions {
  readonly reason: string;
}

export const approve = (
  context: CliContext,
  session: string,
  callId: string | undefined,
  options: ApproveOptions,
): Promise<number> => {
  if (options.all) return approveAll(context, session, callId, options);
  const args = options.args === undefined ? null : argsFrom(options.args, '--args');
  const said: Answer = {
    approve: true,
    ...(args && { args }),
    ...(options.remember && { remember: 'session' }),
  };
  return answer(context, session, callId, said, options);
};

/** Approves the calls that are listed when the command starts. */
function approveAll(
  context: CliContext,
  said: string,
  callId: string | undefined,
  options: ApproveOptions,
): Promise<number> {
  const { args, execution, remember } = options;
  if (callId !== undefined || args !== undefined || execution !== undefined || remember)
    throw usageError(
      '--all approves every call as it is. Leave out the call, --args, --execution and --remember.',
    );
  return withWork(context, options, async (project) => {
    const { runtime, owner } = project;
    const session = await findSession(project, said);
    const { id } = session;
    callMeant(session, undefined, true); // at least one waits
    const begin = () => runtime.approveAll(id, { owner, calls: session.pendingApprovals });
    return { sessionId: id, resumed: session, begin };
  });
}

export const deny = (
  context: CliContext,
  session: string,
  callId: string | undefined,
  options: DenyOptions,
): Promise<number> => {
  if (options.reason.trim() === '')
    throw usageError('--reason is empty. Enter a reason: the model reads it.');
  return answer(context, session, callId, { deny: options.reason }, options);
};

function answer(
  context: CliContext,
  said: string,
  callId: string | undefined,
  given: Answer,
  options: AnswerOptions,
): Promise<number> {
  return withWork(context, options, async (project) => {
    const session = await findSession(project, said);
    const { id } = session;
    const call = callMeant(session, callId, options.yes === true && 'approve' in given);
    const bound = boundTo(call, callId !== undefined, options.execution);
    const begin = () =>
      giveAnswer(project, id, bound, given).catch((error: unknown) => {
        throw AgentError.is(error, 'stale_approval') ? staleCall(context, id, call) : error;
      });
    return { sessionId: id, resumed: session, begin };
  });
}

/** Requires the execution if a call id was used in several: the call may not be the one that the user saw. */
function boundTo(
  call: PendingApproval,
  isNamed: boolean,
  execution: string | undefined,
): PendingApproval {
  const { executionId, ...unbound } = call;
  if (execution !== undefined)
    return executionId?.startsWith(execution) === true ? call : { ...call, executionId: execution };
  return isNamed ? unbound : call;
}

const staleCall = (context: CliContext, sessionId: string, call: PendingApproval): AgentError =>
  new AgentError(
    'stale_approval',
    `More than one execution of this session has used the call id ${oneLine(call.callId, 120)}, and nothing was ` +
      `run. The call that needs approval now is ${askedText(call, 200)}. To answer it, add ` +
      `--execution ${shortId(call.executionId ?? '')}; ${context.command('sessions', 'show', shortId(sessionId))} shows more.`,
    { details: { sessionId, callId: call.callId, executionId: call.executionId ?? null } },
  );

/** Finds the call by its id or the beginning of it; without an id, the only one, or the first of all. */
function callMeant(
  { id, status, pendingApprovals }: Session,
  said: string | undefined,
  isAll: boolean,
): PendingApproval {
  if (pendingApprovals.length === 0)
    throw new AgentError(
      'unknown_approval',
      `Session ${shortId(id)} needs no approval: it is ${status.replace('_', ' ')}.`,
      { details: { sessionId: id, pending: [] } },
    );
  const meant =
    said === undefined
      ? pendingApprovals
      : pendingApprovals.filter(({ callId }) => callId === said || callId.startsWith(said));
  const exact = meant.find(({ callId }) => callId === said);
  const [only, ...others] = exact ? [exact] : meant;
  if (only && (others.length === 0 || (isAll && said === undefined))) return only;
  const list = (only ? meant : pendingApprovals).map(lineOf).join('\n');
  throw usageError(
    said === undefined
      ? `${pendingApprovals.length} calls need approval. Name one, or approve all with --yes:\n${list}`
      : `${only ? 'Several calls start with' : 'No call that needs approval is'} ${said}. Waiting:\n${list}`,
  );
}

const lineOf = (call: PendingApproval): string =>
  `  ${oneLine(call.callId, 120)}  ${askedText(call, 80)}`;
