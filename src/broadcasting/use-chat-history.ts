import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { PendingApproval } from '../events/agent-event.ts';
import { isRecord, parseJson, type JsonObject, type JsonValue } from '../json.ts';
import { textOf, type FilePart, type ImagePart } from '../messages/content-part.ts';
import type { MessageJSON } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import { answerIdOf } from './use-chat-chunk.ts';

/** A part of a message as AI SDK's `UIMessage` has it. */
export type UiChatPart =
  | { type: 'step-start' }
  | { type: 'text'; text: string; state: 'done' }
  | { type: 'file'; mediaType: string; url: string; filename?: string }
  | UiToolPart;

export type UiToolPart = { type: `tool-${string}`; toolCallId: string } & (
  | { state: 'input-available'; input: JsonObject }
  | { state: 'approval-requested'; input: JsonObject; approval: { id: string } }
  | { state: 'output-available'; input: JsonObject; output: JsonValue }
  | { state: 'output-error'; input: JsonObject; errorText: string }
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
  /** From `runtime.steps`: with them results are exact; without, their kind is read off the words. */
  readonly steps?: readonly Pick<AgentStepJSON, 'toolCalls' | 'results'>[];
  /** Of the session: calls that a person has to answer. */
  readonly pendingApprovals?: readonly PendingApproval[];
}

/**
 * A stored conversation as messages of the AI SDK, with the ids that the stream uses: a run that is followed again
 * takes the place of what is here.
 */
export function uiMessagesFrom(
  history: readonly MessageJSON[],
  options: HistoryOptions = {},
): UiChatMessage[] {
  const messages: UiChatMessage[] = [];
  const partOf = partsOf(history, options);
  let question: string | null = null;
  for (const message of history) {
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
    if (text.trim() !== '') answer.parts.push({ type: 'text', text, state: 'done' });
    answer.parts.push(...message.toolCalls.map(partOf));
  }
  const waiting = nestedApprovals(options);
  if (waiting.length > 0)
    messages.findLast(({ role }) => role === 'assistant')?.parts.push(...waiting);
  return messages;
}

function partsOf(
  history: readonly MessageJSON[],
  { steps = [], pendingApprovals = [] }: HistoryOptions,
): (call: ToolCall) => UiToolPart {
  const results = new Map(steps.flatMap((step) => step.results.map((r) => [r.callId, r] as const)));
  const calls = new Map(steps.flatMap((step) => step.toolCalls.map((c) => [c.id, c] as const)));
  const texts = new Map(
    history.flatMap(({ toolCallId, content }) =>
      toolCallId === null ? [] : [[toolCallId, textOf(content)] as const],
    ),
  );
  const waiting = new Set(pendingApprovals.map(({ callId }) => callId));
  return ({ id, name, args }) => {
    const text = texts.get(id);
    const known = text === undefined ? null : readResult(text);
    const result = results.get(id) ?? known;
    const head = { type: `tool-${name}`, toolCallId: id } as const;
    const input = calls.get(id)?.args ?? known?.args ?? args;
    if (result) return { ...head, ...outcomeOf(id, input, result) };
    return waiting.has(id)
      ? { ...head, state: 'approval-requested', input, approval: { id } }
      : { ...head, state: 'input-available', input };
  };
}

function outcomeOf(
  id: string,
  input: JsonObject,
  { kind, value, error }: Pick<ToolResult, 'kind' | 'value' | 'error'>,
) {
  if (kind === 'ok') return { state: 'output-available', input, output: value } as const;
  const words = typeof value === 'string' ? value : JSON.stringify(value);
  if (kind === 'denied') {
    const approval = { id, approved: false, reason: words.replace(DENIED, '') } as const;
    return { state: 'output-denied', input, approval } as const;
  }
  const errorText = error?.message ?? words.replace(FAILED, '');
  return { state: 'output-error', input, errorText } as const;
}

const DENIED = /^Denied by a person: /;
const FAILED = /^Error: /;
const NOT_RUN = /^(?:Blocked|Not finished|Not run): /;
const EDITED = /^\[A person changed the arguments to (.*) before this ran\.\]\n/s;

/** What a tool message tells of its result. */
function readResult(
  content: string,
): Pick<ToolResult, 'kind' | 'value'> & { readonly args: JsonObject | null } {
  const edited = parseJson(EDITED.exec(content)?.[1] ?? '');
  const args = edited.ok && isRecord(edited.value) ? edited.value : null;
  const text = args ? content.replace(EDITED, '') : content;
  if (DENIED.test(text)) return { kind: 'denied', value: text, args };
  if (FAILED.test(text) || NOT_RUN.test(text)) return { kind: 'error', value: text, args };
  const parsed = /^[[{]/.test(text) ? parseJson(text) : null;
  return { kind: 'ok', value: parsed?.ok ? parsed.value : text, args };
}

/** Calls of nested agents are in no message, and yet must be answered. */
const nestedApprovals = ({ pendingApprovals = [] }: HistoryOptions): UiToolPart[] =>
  pendingApprovals
    .filter(({ path }) => path.length > 0)
    .map(({ callId, tool, args }) => ({
      type: `tool-${tool}`,
      toolCallId: callId,
      state: 'approval-requested',
      input: args,
      approval: { id: callId },
    }));

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
