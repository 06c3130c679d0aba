import type { AgentStepJSON } from '../../agent/agent-state.ts';
import type { PendingApproval, PendingInput } from '../../events/agent-event.ts';
import { describedText } from '../../file-facts.ts';
import { isRecord, parseJson, type JsonObject, type JsonValue } from '../../json.ts';
import { textOf, type FilePart, type ImagePart } from '../../messages/content-part.ts';
import type { MessageJSON } from '../../messages/message.ts';
import { reasoningOf } from '../../reasoning-text.ts';
import type { ToolResult } from '../../tools/tool-result.ts';
import {
  answerIdOf,
  approvalMetadata,
  inputPart,
  type OnwardAsked,
  type OnwardInput,
} from './use-chat-chunk.ts';

/** A part of the AI SDK's `UIMessage`. */
export type UiChatPart =
  | { type: 'step-start' }
  | { type: 'text' | 'reasoning'; text: string; state: 'done' }
  | { type: 'file'; mediaType: string; url: string; filename?: string }
  | { type: 'data-onward-input'; id: string; data: OnwardInput }
  | UiToolPart;

export type UiToolPart = { type: `tool-${string}`; toolCallId: string } & (
  | { state: 'input-available'; input: JsonObject }
  | {
      state: 'approval-requested';
      input: JsonObject;
      approval: { id: string };
      callProviderMetadata?: OnwardAsked;
    }
  | { state: 'output-available'; input: JsonObject; output: JsonValue }
  | { state: 'output-error'; input: JsonObject; rawInput?: string; errorText: string }
  | {
      state: 'output-denied';
      input: JsonObject;
      approval: { id: string; approved: false; reason: string };
    }
);

/** A message for `useChat({ messages })`. */
export interface UiChatMessage {
  id: string;
  role: 'user' | 'assistant';
  parts: UiChatPart[];
}

export interface HistoryOptions {
  /**
   * Steps from `runtime.steps`: they give results as values and the messages of errors. Without them, results are
   * texts.
   */
  readonly steps?: readonly (Pick<AgentStepJSON, 'toolCalls' | 'results'> &
    Partial<Pick<AgentStepJSON, 'messageIds'>>)[];
  /** Whether answers include the model's reasoning, its first 32,768 characters. Default: false. */
  readonly includeReasoning?: boolean;
  /** Pending approvals of the session. */
  readonly pendingApprovals?: readonly PendingApproval[];
  /** Pending questions of the session. */
  readonly pendingInputs?: readonly PendingInput[];
}

/**
 * Converts a stored conversation to messages of the AI SDK. It uses the ids of the stream, so a run that is followed
 * again replaces its message.
 */
export function toUseChatMessages(
  history: readonly MessageJSON[],
  options: HistoryOptions = {},
): UiChatMessage[] {
  const messages: UiChatMessage[] = [];
  const { pendingApprovals = [], steps = [] } = options;
  const stepOf = stepFinder(steps);
  const open = new Map(pendingApprovals.map((one) => [one.callId, one]));
  const newest = history.findLastIndex(({ toolCalls }) => toolCalls.length > 0);
  let question: string | null = null;
  for (const [at, message] of history.entries()) {
    const { id, role, metadata } = message;
    if (role === 'user' && metadata['synthetic'] !== true) {
      question = id;
      messages.push({ id, role, parts: userParts(message) });
    }
    if (role !== 'assistant') continue;
    let answer = messages.at(-1);
    if (answer?.role !== 'assistant') {
      answer = { id: answerIdOf(question ?? id), role, parts: [] };
      messages.push(answer);
    }
    const text = textOf(message.content);
    answer.parts.push({ type: 'step-start' });
    const reasoning = options.includeReasoning === true ? reasoningOf(message) : null;
    if (reasoning !== null)
      answer.parts.push({ type: 'reasoning', text: reasoning, state: 'done' });
    if (text.trim() !== '') answer.parts.push({ type: 'text', text, state: 'done' });
    answer.parts.push(...partsOf(history, at, stepOf(message), at === newest ? open : noCalls));
  }
  const waiting = [
    ...nestedApprovals(options),
    ...(options.pendingInputs ?? []).map((question) => inputPart(question)),
  ];
  if (waiting.length > 0)
    messages.findLast(({ role }) => role === 'assistant')?.parts.push(...waiting);
  return messages;
}

type Waiting = ReadonlyMap<string, PendingApproval>;
const noCalls: Waiting = new Map();

type Step = NonNullable<HistoryOptions['steps']>[number];

/** Returns a function that finds the step of a message, by its calls if the step does not list its messages. */
function stepFinder(steps: readonly Step[]): (message: MessageJSON) => Step | undefined {
  const byMessage = new Map(
    steps.flatMap((step) => (step.messageIds ?? []).map((id) => [id, step] as const)),
  );
  const others = steps.filter(({ messageIds }) => messageIds === undefined);
  return ({ id, toolCalls }) =>
    byMessage.get(id) ??
    others.findLast(({ toolCalls: calls }) =>
      toolCalls.every((call) => calls.some((other) => other.id === call.id)),
    );
}

/** The stored facts of one call. */
type Known = Pick<ToolResult, 'kind' | 'value'> & {
  readonly error?: ToolResult['error'];
  /** Changed arguments; null if they are those of the message. */
  readonly args: JsonObject | null;
};

/** Returns the calls of one message with their results: call ids repeat in later executions. */
function partsOf(
  history: readonly MessageJSON[],
  at: number,
  step: Step | undefined,
  waiting: Waiting,
): UiToolPart[] {
  const toolCalls = history[at]?.toolCalls ?? [];
  if (toolCalls.length === 0) return [];
  let end = at + 1;
  while (history[end]?.role === 'tool') end += 1;
  const answers = history.slice(at + 1, end);
  return toolCalls.map(({ id, name, args, argsRaw }) => {
    const known = fromStep(step, id) ?? fromMessage(answers.find((m) => m.toolCallId === id));
    const head = { type: `tool-${name}`, toolCallId: id } as const;
    const input = known?.args ?? args;
    if (known) {
      const outcome = outcomeOf(id, input, known);
      // arguments that are not JSON are shown as text
      const isRaw = outcome.state === 'output-error' && argsRaw !== undefined;
      return { ...head, ...outcome, ...(isRaw && { rawInput: argsRaw }) };
    }
    const asked = waiting.get(id);
    return asked
      ? { ...head, ...waitingPart({ ...asked, args: input }) }
      : { ...head, state: 'input-available', input };
  });
}

function fromStep(step: Step | undefined, callId: string): Known | null {
  const result = step?.results.find((one) => one.callId === callId);
  if (!result) return null;
  return { ...result, args: step?.toolCalls.find(({ id }) => id === callId)?.args ?? null };
}

/** Reads the result from the metadata only: the tool controls the text, which may say anything. */
function fromMessage(message: MessageJSON | undefined): Known | null {
  if (!message) return null;
  const { toolResult } = message.metadata;
  const { kind = 'ok', editedArgs } = isRecord(toolResult) ? toolResult : {};
  const args = isRecord(editedArgs) ? editedArgs : null;
  const content = describedText(message.content);
  const note =
    args && `[A person changed the arguments to ${JSON.stringify(args)} before this ran.]\n`;
  const text = note && content.startsWith(note) ? content.slice(note.length) : content;
  if (kind !== 'ok') return { kind: kind as ToolResult['kind'], value: text, args };
  const parsed = /^[[{]/.test(text) ? parseJson(text) : null;
  return { kind: 'ok', value: parsed?.ok ? parsed.value : text, args };
}

function outcomeOf(id: string, input: JsonObject, { kind, value, error }: Known) {
  if (kind === 'ok') return { state: 'output-available', input, output: value } as const;
  const words = typeof value === 'string' ? value : JSON.stringify(value);
  if (kind === 'denied') {
    const approval = { id, approved: false, reason: words.replace(DENIED, '') } as const;
    return { state: 'output-denied', input, approval } as const;
  }
  const errorText = error?.message ?? words.replace(FAILED, '');
  return { state: 'output-error', input, errorText } as const;
}

/** Prefixes that this library writes for results that are not ok. */
const DENIED = /^Denied by a person: /;
const FAILED = /^Error: /;
/** Returns the pending calls of nested agents, which are in no message but need an answer. */
const nestedApprovals = ({ pendingApprovals = [] }: HistoryOptions): UiToolPart[] =>
  pendingApprovals
    .filter(({ path }) => path.length > 0)
    .map((one) => ({ type: `tool-${one.tool}`, toolCallId: one.callId, ...waitingPart(one) }));

function waitingPart(approval: PendingApproval) {
  const { callId: id, args: input } = approval;
  const mark = approvalMetadata(approval);
  return {
    state: 'approval-requested',
    input,
    approval: { id },
    ...(mark && { callProviderMetadata: mark }),
  } as const;
}

const userParts = ({ content }: MessageJSON): UiChatPart[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content, state: 'done' }]
    : content.map((part) =>
        part.type === 'text' ? { type: 'text', text: part.text, state: 'done' } : filePart(part),
      );

function filePart(part: ImagePart | FilePart): UiChatPart {
  const { url, data, mediaType = 'application/octet-stream' } = part;
  return {
    type: 'file',
    mediaType,
    url: url ?? `data:${mediaType};base64,${data ?? ''}`,
    ...('filename' in part && part.filename !== undefined && { filename: part.filename }),
  };
}
