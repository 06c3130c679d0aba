import { AgentError } from '../../errors/agent-error.ts';
import { hiddenText } from '../../events/hidden-args.ts';
import type { PendingApproval, PendingInput } from '../../events/agent-event.ts';
import { isRecord, own, parseJson, type JsonObject } from '../../json.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { Session } from '../../sessions/session.ts';
import { inputAnswerIn } from '../../tools/input-request.ts';
import { visibleJson, visibleLines, visibleText } from '../../visible-text.ts';
import { formSchema } from '../server-question.ts';

/** What the client can ask its user. */
export interface CanAsk {
  readonly form: boolean;
  readonly url: boolean;
}

/** A question to the user of the client, as the protocol has it. */
export type Elicitation =
  | { readonly message: string; readonly requestedSchema: JsonObject; readonly url?: undefined }
  | { readonly message: string; readonly url: string; readonly id: string };

/** What an answer is for. It is what the user saw: the answer counts for nothing else. */
export interface QuestionRef {
  readonly kind: 'approval' | 'input';
  /** Call or input. */
  readonly id: string;
  readonly executionId: string;
  /** Hash of the arguments, for an approval. */
  readonly argsHash: string | null;
}

export interface SessionQuestion {
  readonly ref: QuestionRef;
  readonly elicitation: Elicitation;
}

/** Questions by key, with the session: what the client sends back with its answers. */
export interface AskedState {
  readonly sessionId: string;
  readonly round: number;
  readonly refs: Readonly<Record<string, QuestionRef>>;
  /** Questions that the user left open in an earlier round. */
  readonly left: readonly string[];
}

/** Most questions at once, and most rounds in which the same call asks. */
const MAX_QUESTIONS = 16;
export const MAX_ROUNDS = 16;
/** Most characters of arguments that a question shows: what cannot be shown whole is not asked here. */
const MAX_ARGS = 4_000;
const MAX_TEXT = 2_000;
const MAX_FIELDS = 40;
const MAX_STATE = 65_536;

/** Returns the questions that the client can ask; a question that it cannot ask stays open. */
export function questionsOf(
  session: Session,
  can: CanAsk,
  problems: ReadonlyMap<string, string>,
  left: readonly string[],
): readonly SessionQuestion[] {
  const asked = [
    ...session.pendingApprovals.map((one) => approvalQuestion(session, one, can)),
    ...session.pendingInputs.map((one) => inputQuestion(session, one, can)),
  ];
  return asked
    .flatMap((question) => (question && !left.includes(question.ref.id) ? [question] : []))
    .slice(0, MAX_QUESTIONS)
    .map((question) => withProblem(question, problems.get(question.ref.id)));
}

function withProblem(question: SessionQuestion, problem: string | undefined): SessionQuestion {
  if (problem === undefined) return question;
  const { elicitation } = question;
  const message = `${elicitation.message}\n\nThe last answer was not accepted: ${visibleText(problem.slice(0, MAX_TEXT))}`;
  return { ...question, elicitation: { ...elicitation, message } };
}

const decision: JsonObject = {
  type: 'object',
  properties: {
    decision: { type: 'string', title: 'Decision', enum: ['approve', 'deny'] },
    reason: {
      type: 'string',
      title: 'Reason',
      description: 'Why it is denied. The agent reads it.',
      maxLength: MAX_TEXT,
    },
  },
  required: ['decision'],
};

function approvalQuestion(
  { agent, executionId }: Session,
  one: PendingApproval,
  { form }: CanAsk,
): SessionQuestion | null {
  const shown = argsText(one);
  if (!form || shown === null) return null;
  const by =
    one.path.length > 0 ? `An agent behind "${visibleText(agent)}"` : `"${visibleText(agent)}"`;
  const hiding = hiddenText(one.hidden);
  const message =
    `${by} wants to call ${visibleText(one.tool)}. The call has not run. It would run with:\n${shown}` +
    (hiding === null ? '' : `\n${hiding} The tool gets the hidden values.`);
  const ref: QuestionRef = {
    kind: 'approval',
    id: one.callId,
    executionId: one.executionId ?? executionId ?? '',
    argsHash: one.argsHash ?? null,
  };
  return { ref, elicitation: { message, requestedSchema: decision } };
}

/** Returns the arguments as text; null if they are too long to show whole. */
function argsText({ args }: PendingApproval): string | null {
  const text = visibleJson(JSON.stringify(args, null, 1));
  return text.length > MAX_ARGS ? null : text;
}

function inputQuestion(
  { agent }: Session,
  { inputId, executionId, tool, message: said, url, schema }: PendingInput,
  can: CanAsk,
): SessionQuestion | null {
  const message = `${visibleText(tool)} of "${visibleText(agent)}" asks: ${visibleLines(said.slice(0, MAX_TEXT))}`;
  const ref: QuestionRef = { kind: 'input', id: inputId, executionId, argsHash: null };
  if (url !== undefined)
    return can.url ? { ref, elicitation: { message, url, id: inputId } } : null;
  if (!can.form || schema === undefined || !isFlat(schema)) return null;
  return { ref, elicitation: { message, requestedSchema: formSchema(schema) } };
}

const plainTypes: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean']);
const formats: ReadonlySet<unknown> = new Set(['email', 'uri', 'date', 'date-time', undefined]);

/** Whether a form of the protocol can ask for it: plain fields, and lists of choices. */
function isFlat(schema: JsonObject): boolean {
  const properties = own(schema, 'properties');
  if (!isRecord(properties)) return false;
  const fields = Object.values(properties);
  return fields.length > 0 && fields.length <= MAX_FIELDS && fields.every(isField);
}

function isField(field: unknown): boolean {
  if (!isRecord(field)) return false;
  const { type, format, items } = field;
  if (type === 'array') return isRecord(items) && Array.isArray(items['enum']);
  return plainTypes.has(type) && formats.has(format);
}

/** Describes what waits, for a client that cannot ask. */
export const waitingFor = (session: Session): JsonObject[] =>
  [
    ...session.pendingApprovals.map((one) => ({
      tool: visibleText(one.tool),
      asks: `approval of ${argsText(one) ?? 'a call with long arguments'}`,
    })),
    ...session.pendingInputs.map(({ tool, message }) => ({
      tool: visibleText(tool),
      asks: visibleLines(message.slice(0, MAX_TEXT)),
    })),
  ].slice(0, MAX_QUESTIONS);

/** An answer may come a second time, or after the user has answered elsewhere. The session shows what is true now. */
const settledElsewhere = new Set([
  'unknown_approval',
  'unknown_input',
  'stale_approval',
  'conflict',
  'not_resumable',
]);

/** `left`: the user gave no answer, so the question stays open. A text says why the answer is not accepted. */
type Given = 'given' | 'left' | { readonly problem: string };

/** Gives the session the answer of the user to one question. */
export async function giveAnswer(
  runtime: SessionRuntime,
  { sessionId, owner }: { readonly sessionId: string; readonly owner: string },
  ref: QuestionRef,
  response: unknown,
): Promise<Given> {
  const answer = inputAnswerIn(response);
  if (answer === null || answer.action === 'cancel') return 'left';
  const { id, executionId, argsHash } = ref;
  try {
    if (ref.kind === 'input') await runtime.answer(sessionId, id, { owner, executionId, answer });
    else {
      const { decision: said, reason } = answer.action === 'accept' ? (answer.content ?? {}) : {};
      if (answer.action === 'accept' && said !== 'approve' && said !== 'deny') return 'left';
      const bound = { owner, executionId, ...(argsHash !== null && { argsHash }) };
      if (said === 'approve') await runtime.approve(sessionId, id, bound);
      else await runtime.deny(sessionId, id, { ...bound, reason: reasonIn(reason) });
    }
    return 'given';
  } catch (error) {
    if (AgentError.is(error, 'invalid_input')) return { problem: error.message };
    if (AgentError.is(error) && settledElsewhere.has(error.code)) return 'given';
    throw error;
  }
}

const reasonIn = (reason: unknown): string =>
  typeof reason === 'string' && reason.trim() !== ''
    ? reason.slice(0, MAX_TEXT)
    : 'The user declined.';

export const stateText = (state: AskedState): string => JSON.stringify(state);

/** Reads the state of a question, which went through the client. Returns null for anything else. */
export function readState(text: unknown): AskedState | null {
  if (typeof text !== 'string' || text.length > MAX_STATE) return null;
  const parsed = parseJson(text);
  const state = parsed.ok ? parsed.value : null;
  if (!isRecord(state)) return null;
  const { sessionId, round, refs, left } = state;
  const isState =
    typeof sessionId === 'string' &&
    Number.isInteger(round) &&
    isRecord(refs) &&
    Object.keys(refs).length <= MAX_QUESTIONS &&
    Object.values(refs).every(isRef) &&
    Array.isArray(left) &&
    left.every((id: unknown) => typeof id === 'string');
  return isState ? (state as unknown as AskedState) : null; // every field was checked
}

const isRef = (ref: unknown): boolean =>
  isRecord(ref) &&
  (ref['kind'] === 'approval' || ref['kind'] === 'input') &&
  typeof ref['id'] === 'string' &&
  typeof ref['executionId'] === 'string' &&
  (ref['argsHash'] === null || typeof ref['argsHash'] === 'string');
