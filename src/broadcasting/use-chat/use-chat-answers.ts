import type { ApprovalAnswer, Approvals } from '../../agent/approval-answer.ts';
import { AgentError } from '../../errors/agent-error.ts';
import { safeEnd } from '../../errors/excerpt.ts';
import type { PendingApproval } from '../../events/agent-event.ts';
import { isRecord, sameJson } from '../../json.ts';
import type { NumberedEvent } from '../../sessions/event-log.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { Session } from '../../sessions/session.ts';
import { answerIdOf } from './use-chat-chunk.ts';
import { ChatRefusal } from './use-chat-errors.ts';

/** One answer, with the call that the client showed. It must match the call that needs approval. */
interface GivenAnswer {
  readonly answer: ApprovalAnswer;
  readonly tool: string | null;
  readonly input: unknown;
  /** Id of the approval: the id of the call. */
  readonly approvalId: unknown;
  /** Hash of the arguments, as the stream or the history sent it. */
  readonly argsHash: string | undefined;
}

/** Answers to approvals, as a client sent them. */
export interface ChatAnswers {
  readonly kind: 'answers';
  /** Answers by call id. */
  readonly given: ReadonlyMap<string, GivenAnswer>;
  /** Ids of the calls that the client shows as unfinished. */
  readonly open: readonly string[];
  /** Message and execution that the client answers; null if it does not name them. */
  readonly messageId: string | null;
  readonly executionId: string | null;
}

const MAX_REASON = 2_000;

/** Reads the answers of a client. The rest of its message is ignored: results in it are not history. */
export function readAnswers(message: Readonly<Record<string, unknown>>): ChatAnswers {
  const given = new Map<string, GivenAnswer>();
  const open: string[] = [];
  const parts = Array.isArray(message['parts']) ? message['parts'].filter(isRecord) : [];
  for (const part of parts) {
    const { type, state, toolCallId, approval, input } = part;
    const tool = toolOf(type, part['toolName']);
    if (tool === undefined || typeof toolCallId !== 'string') continue;
    if (typeof state === 'string' && state.startsWith('output-')) continue;
    open.push(toolCallId);
    if (state !== 'approval-responded' || !isRecord(approval)) continue;
    const { id, approved, reason } = approval;
    if (typeof approved !== 'boolean')
      throw invalid('An approval has no "approved" of true or false. Send one.');
    if (given.has(toolCallId))
      throw invalid('A call is answered more than once. Send one answer for each call.');
    const why = typeof reason === 'string' && reason !== '' ? reason : 'no reason was given';
    const answer = approved
      ? { approve: true as const }
      : { deny: why.slice(0, safeEnd(why, MAX_REASON)) };
    const argsHash = hashIn(part['callProviderMetadata']);
    given.set(toolCallId, { answer, tool, input, approvalId: id, argsHash });
  }
  if (given.size === 0)
    throw invalid(
      'The last message is from the assistant and answers no approval. Send a user message or an answer.',
    );
  const { id, metadata } = message;
  const executionId = isRecord(metadata) ? metadata['executionId'] : null;
  return {
    kind: 'answers',
    given,
    open,
    messageId: typeof id === 'string' && id !== '' ? id : null,
    executionId: typeof executionId === 'string' ? executionId : null,
  };
}

function hashIn(metadata: unknown): string | undefined {
  const onward = isRecord(metadata) ? metadata['onward'] : null;
  const hash = isRecord(onward) ? onward['argsHash'] : null;
  return typeof hash === 'string' ? hash : undefined;
}

/** Returns the tool name; null if the client did not send it, undefined if the part is no tool call. */
function toolOf(type: unknown, toolName: unknown): string | null | undefined {
  if (type === 'dynamic-tool') return typeof toolName === 'string' ? toolName : null;
  return typeof type === 'string' && type.startsWith('tool-') ? type.slice(5) : undefined;
}

/**
 * Submits the answers and returns the log number of the pause that they answer. Each call is answered once; repeated
 * answers only follow the run.
 */
export async function giveAnswers(
  runtime: SessionRuntime,
  { id, owner, executionId }: Session,
  answers: ChatAnswers,
): Promise<{ readonly executionId: string; readonly after: number }> {
  if (executionId === null) throw lateAnswer();
  const log = await wholeLog(runtime, id, owner, executionId);
  if (!(await isAbout(answers, executionId, log, () => newestIds(runtime, id, owner))))
    throw lateAnswer();
  const after = pauseSeqOf(log, answers.open);
  if (after === null) throw lateAnswer();
  // another client may answer one of them in between: the others still count
  for (let tries = 0; tries < 5; tries += 1) {
    const { pendingApprovals } = await runtime.get(id, { owner });
    const approvals = matched(answers, executionId, pendingApprovals, log);
    if (approvals === null) break;
    if (await isTaken(runtime.resume(id, { owner, approvals }))) break;
  }
  return { executionId, after };
}

/** Returns the answers to calls that still need approval. Each must match the call that the client showed. */
function matched(
  { given }: ChatAnswers,
  executionId: string,
  pending: readonly PendingApproval[],
  log: readonly NumberedEvent[],
): Approvals | null {
  const open = pending.flatMap(({ callId, tool, args }) => {
    const one = given.get(callId);
    if (!one) return [];
    const shown = [args, requestedArgs(log, callId)];
    const isMatch =
      (one.tool === null || one.tool === tool) &&
      (one.approvalId === undefined || one.approvalId === callId) &&
      shown.some((value) => sameJson(value, one.input));
    if (!isMatch) throw mismatch();
    return [[callId, { ...one.answer, executionId, argsHash: one.argsHash }] as const];
  });
  return open.length > 0 ? Object.fromEntries(open) : null;
}

const requestedArgs = (log: readonly NumberedEvent[], callId: string): unknown =>
  log
    .flatMap(({ event }) => (event.type === 'ToolApprovalRequested' ? event : []))
    .findLast(({ toolCallId }) => toolCallId === callId)?.args;

/** Whether the answer is for this execution: call ids repeat in later executions. */
async function isAbout(
  { executionId, messageId }: ChatAnswers,
  newest: string,
  log: readonly NumberedEvent[],
  moreIds: () => Promise<readonly string[]>,
): Promise<boolean> {
  if (executionId !== null) return executionId === newest;
  if (messageId === null)
    throw invalid('The message has no id. Send it with the id from the stream or the history.');
  const isMatch = (id: string): boolean => answerIdOf(id) === messageId;
  const ids = log.flatMap(({ event }) => (event.type === 'MessageAdded' ? event.messageId : []));
  return ids.some(isMatch) || (await moreIds()).some(isMatch);
}

/** Returns the ids of the messages since the last user message: a page of the history may start in between. */
async function newestIds(
  runtime: SessionRuntime,
  sessionId: string,
  owner: string,
): Promise<readonly string[]> {
  const { items } = await runtime.messages(sessionId, { owner, limit: 50 });
  const isQuestion = ({ role, metadata }: (typeof items)[number]): boolean =>
    role === 'user' && metadata['synthetic'] !== true;
  return items.slice(items.findLastIndex(isQuestion) + 1).map(({ id }) => id);
}

const late: ReadonlySet<string> = new Set([
  'conflict',
  'unknown_approval',
  'unknown_input',
  'not_resumable',
]);

/** Whether an answer was accepted; false if it is too late, because the call was answered elsewhere. */
export async function isTaken(resuming: Promise<unknown>): Promise<boolean> {
  try {
    await resuming;
    return true;
  } catch (error) {
    if (AgentError.is(error) && late.has(error.code)) return false;
    throw error;
  }
}

/** Returns the log number of the first pause with a call that the client shows as unfinished. */
function pauseSeqOf(log: readonly NumberedEvent[], open: readonly string[]): number | null {
  const pause = log.find(
    ({ event }) =>
      event.type === 'AgentPaused' &&
      event.parentAgentId === null &&
      event.pendingApprovals.some(({ callId }) => open.includes(callId)),
  );
  return pause?.seq ?? null;
}

/** Reads the log of one execution. */
export async function wholeLog(
  runtime: SessionRuntime,
  sessionId: string,
  owner: string,
  executionId: string,
): Promise<readonly NumberedEvent[]> {
  const log: NumberedEvent[] = [];
  for (;;) {
    const after = log.at(-1)?.seq ?? 0;
    const { events, seq } = await runtime.events(sessionId, { owner, executionId, after });
    log.push(...events);
    if (events.length === 0 || (log.at(-1)?.seq ?? 0) >= seq) return log;
  }
}

const lateAnswer = (): ChatRefusal =>
  new ChatRefusal('unknown_approval', 'This call no longer needs an answer.');

const mismatch = (): ChatRefusal =>
  new ChatRefusal(
    'approval_mismatch',
    'The call that needs approval is not the one that was shown. Reload the chat, then answer.',
  );

const invalid = (message: string): ChatRefusal => new ChatRefusal('invalid_request', message);
