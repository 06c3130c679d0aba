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

export interface ApproveOptions extends WorkOptions {
  readonly args?: string;
}

export interface DenyOptions extends WorkOptions {
  readonly reason: string;
}

export const approve = (
  context: CliContext,
  session: string,
  callId: string | undefined,
  options: ApproveOptions,
): Promise<number> => {
  const args = options.args === undefined ? null : argsFrom(options.args, '--args');
  return answer(context, session, callId, { approve: true, ...(args && { args }) }, options);
};

export const deny = (
  context: CliContext,
  session: string,
  callId: string | undefined,
  options: DenyOptions,
): Promise<number> => {
  if (options.reason.trim() === '')
    throw usageError('--reason is empty. Say why: the model reads it.');
  return answer(context, session, callId, { deny: options.reason }, options);
};

function answer(
  context: CliContext,
  said: string,
  callId: string | undefined,
  given: Answer,
  options: WorkOptions,
): Promise<number> {
  return withWork(context, options, async (project) => {
    const session = await findSession(project, said);
    const call = callMeant(session, callId, options.yes === true && 'approve' in given);
    const begin = () => giveAnswer(project, session.id, call, given);
    return { sessionId: session.id, goesOn: session, begin };
  });
}

/** The call named, by its id or its beginning; left out, the only one there is, or the first of all. */
function callMeant(
  { id, status, pendingApprovals }: Session,
  said: string | undefined,
  isAll: boolean,
): PendingApproval {
  if (pendingApprovals.length === 0)
    throw new AgentError(
      'unknown_approval',
      `Session ${shortId(id)} waits for no answer: it is ${status.replace('_', ' ')}.`,
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
      ? `${pendingApprovals.length} calls wait. Say which, or approve all with --yes:\n${list}`
      : `${only ? 'Several calls begin with' : 'No call that waits is'} ${said}. Waiting:\n${list}`,
  );
}

const lineOf = (call: PendingApproval): string =>
  `  ${oneLine(call.callId, 120)}  ${askedText(call, 80)}`;
