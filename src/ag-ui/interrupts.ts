import { isTaken, wholeLog } from '../broadcasting/use-chat/use-chat-answers.ts';
import type { Asked } from '../broadcasting/use-chat/use-chat-ask.ts';
import { ChatRefusal } from '../broadcasting/use-chat/use-chat-errors.ts';
import type { ApprovalAnswer } from '../agent/approval-answer.ts';
import { AgentError } from '../errors/agent-error.ts';
import { safeEnd } from '../errors/excerpt.ts';
import type { EventOf, PendingApproval, PendingInput } from '../events/agent-event.ts';
import { hiddenText } from '../events/hidden-args.ts';
import { isRecord, jsonCopy, type JsonObject } from '../json.ts';
import type { NumberedEvent } from '../sessions/event-log.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { Session } from '../sessions/session.ts';
import { sha256 } from '../sha256.ts';
import { inputAnswerIn } from '../tools/input-request.ts';
import { visibleLines, visibleText } from '../visible-text.ts';
import type { AgUiInterrupt } from './ag-ui-event.ts';
import type { ResumeEntry, RunAsk } from './run-input.ts';

type Paused = EventOf<'AgentPaused'>;

const MAX_REASON = 2_000;
/** Most characters of edited arguments, as JSON. */
const MAX_ARGS = 100_000;

const decision: JsonObject = {
  type: 'object',
  properties: {
    approved: { type: 'boolean' },
    editedArgs: { type: 'object', description: 'Arguments to run the call with instead.' },
    reason: {
      type: 'string',
      maxLength: MAX_REASON,
      description: 'Why it is denied. The agent reads it.',
    },
  },
  required: ['approved'],
  additionalProperties: false,
};

/** Names a question by all that an answer must fit: its execution, its call, and the arguments that were shown. */
const idOf = (kind: string, ...parts: readonly (string | number)[]): string =>
  `${kind}_${sha256(JSON.stringify(parts)).slice(0, 32)}`;

const approvalId = (one: PendingApproval, executionId: string): string =>
  idOf('approval', one.executionId ?? executionId, one.callId, one.argsHash ?? '');

const inputId = ({ executionId, inputId: id }: PendingInput): string =>
  idOf('input', executionId, id);

const pauseId = ({ executionId, stepCount }: Paused): string =>
  idOf('pause', executionId, stepCount);

/** The questions of a pause. `wireId` returns the id under which the client knows a call. */
export function interruptsOf(
  paused: Paused,
  why: string,
  wireId: (callId: string) => { readonly toolCallId?: string; readonly subagentRunId?: string },
): readonly AgUiInterrupt[] {
  const { executionId, pendingApprovals, pendingInputs = [] } = paused;
  const asked: AgUiInterrupt[] = [
    ...pendingApprovals.map((one): AgUiInterrupt => {
      const { tool, args, hidden } = one;
      const hiding = hiddenText(hidden);
      const message = `The agent wants to call ${visibleText(tool)}. The call has not run.`;
      return {
        id: approvalId(one, executionId),
        reason: 'tool_call',
        message:
          hiding === null ? message : `${message} ${hiding} The tool gets the hidden values.`,
        ...wireId(one.callId),
        responseSchema: decision,
        metadata: { onward: { tool, args, ...(hidden && { hidden: [...hidden] }) } },
      };
    }),
    ...pendingInputs.map((one): AgUiInterrupt => {
      const { tool, message, schema, url, callId } = one;
      return {
        id: inputId(one),
        reason: 'input_required',
        message: `${visibleText(tool)} asks: ${visibleLines(message)}`,
        ...wireId(callId),
        ...(schema !== undefined && { responseSchema: schema }),
        metadata: { onward: { tool, ...(url !== undefined && { url }) } },
      };
    }),
  ];
  if (asked.length > 0) return asked;
  return [{ id: pauseId(paused), reason: 'onward:paused', message: why }];
}

/** Whether the pause asked one of these questions. */
const hasAsked = (paused: Paused, entries: ReadonlyMap<string, ResumeEntry>): boolean =>
  interruptsOf(paused, '', () => ({})).some(({ id }) => entries.has(id));

/**
 * Gives the session the answers, and returns the log number of the pause that they answer. A question that was answered
 * before, here or elsewhere, is left as it is.
 */
export async function giveResume(
  runtime: SessionRuntime,
  { id, owner, executionId }: Session,
  { entries }: Extract<RunAsk, { kind: 'resume' }>,
): Promise<Asked> {
  if (executionId === null) throw unknown();
  const log = await wholeLog(runtime, id, owner, executionId);
  const pause = log.find(({ event }) => isPause(event) && hasAsked(event, entries));
  if (!pause || !isPause(pause.event)) throw unknown();
  const { after, paused } = { after: pause.seq, paused: pause.event };
  // another client may answer one of them in between: the others still count
  for (let tries = 0; tries < 5; tries += 1)
    if (await isGiven(runtime, await runtime.get(id, { owner }), entries, paused)) break;
  return { executionId, after };
}

const isPause = (event: NumberedEvent['event']): event is Paused =>
  event.type === 'AgentPaused' && event.parentAgentId === null;

/** Gives what the session still waits for; false if another answer came first. */
async function isGiven(
  runtime: SessionRuntime,
  session: Session,
  entries: ReadonlyMap<string, ResumeEntry>,
  paused: Paused,
): Promise<boolean> {
  const { id, owner, executionId, pendingApprovals, pendingInputs } = session;
  if (session.status !== 'paused' || executionId !== paused.executionId) return true;
  const approvals = pendingApprovals.flatMap((one) => {
    const entry = entries.get(approvalId(one, executionId));
    const bound = { executionId: one.executionId ?? executionId, argsHash: one.argsHash };
    return entry ? [[one.callId, { ...answerIn(entry), ...bound }] as const] : [];
  });
  const inputs = pendingInputs.flatMap((one) => {
    const entry = entries.get(inputId(one));
    return entry ? [[one, inputIn(one, entry)] as const] : [];
  });
  for (const [one, answer] of inputs) {
    const given = runtime.answer(id, one.inputId, { owner, executionId: one.executionId, answer });
    if (!(await isTaken(given.catch(unfit)))) return false;
  }
  if (approvals.length > 0)
    return isTaken(runtime.resume(id, { owner, approvals: Object.fromEntries(approvals) }));
  const entry = entries.get(pauseId(paused));
  if (!entry || pendingApprovals.length + pendingInputs.length > 0) return true;
  return isTaken(
    entry.status === 'cancelled'
      ? runtime.stop(id, { owner, reason: 'the user cancelled the pause' })
      : runtime.resume(id, { owner }),
  );
}

function answerIn({ status, payload }: ResumeEntry): ApprovalAnswer {
  if (status === 'cancelled') return { deny: 'the user gave no answer' };
  const { approved, reason, editedArgs } = isRecord(payload) ? payload : {};
  if (approved === false) {
    const why = typeof reason === 'string' && reason.trim() !== '' ? reason : 'no reason was given';
    return { deny: why.slice(0, safeEnd(why, MAX_REASON)) };
  }
  if (approved !== true)
    throw invalid('The answer to an approval has no "approved" of true or false. Send one.');
  if (editedArgs === undefined || editedArgs === null) return { approve: true };
  const { value, isTruncated } = jsonCopy(editedArgs);
  if (!isRecord(value) || isTruncated || JSON.stringify(value).length > MAX_ARGS)
    throw invalid('editedArgs is not an object with the arguments of the call, or is too large.');
  return { approve: true, args: value };
}

function inputIn({ url }: PendingInput, { status, payload }: ResumeEntry) {
  const given =
    status === 'cancelled'
      ? { action: 'cancel' }
      : { action: 'accept', ...(url === undefined && { content: payload }) };
  const answer = inputAnswerIn(given);
  if (answer === null || (answer.action === 'accept' && url === undefined && !answer.content))
    throw invalid('The answer to a question is not an object with its fields.');
  return answer;
}

/** An answer that does not fit its question keeps the question open: the client asks again. */
function unfit(error: unknown): never {
  if (AgentError.is(error, 'invalid_input')) throw invalid(error.message);
  throw error;
}

const unknown = (): ChatRefusal =>
  new ChatRefusal(
    'unknown_approval',
    'This interrupt no longer needs an answer. Reload the thread.',
  );

const invalid = (message: string): ChatRefusal => new ChatRefusal('invalid_request', message);
