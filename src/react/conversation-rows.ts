import { hasToolError } from '../ui/message-rules.ts';
import type { UiMessage, UiToolCall } from '../ui/ui-message.ts';
import type { UiState } from '../ui/ui-state.ts';
import type { ToolState } from './labels.ts';
import type { ToolCallItem } from './tool-calls.tsx';

/** One message to render; the same object while nothing in it changes. */
export interface ConversationRow {
  readonly message: UiMessage;
  readonly calls: readonly ToolCallItem[];
  readonly isStreaming: boolean;
}

export type ShownState = Pick<UiState, 'messages' | 'status' | 'approvals' | 'inputs' | 'stop'>;

const noCalls: readonly ToolCallItem[] = [];

/** Attaches results to their calls. Reuses unchanged rows of `before`, so that only changes render. */
export function conversationRows(
  { messages, status, approvals, inputs = [] }: Omit<ShownState, 'stop'>,
  before: readonly ConversationRow[] = [],
): readonly ConversationRow[] {
  const old = new Map(before.map((row) => [row.message.id, row]));
  const results = new Map<string, UiMessage>();
  const called = new Set<string>();
  // providers reuse call ids in each turn
  let turn = 0;
  for (const message of messages) {
    const { tool_call_id: callId, tool_calls: calls } = message.metadata;
    if (message.role === 'user') turn += 1;
    if (message.role === 'tool' && callId !== undefined) results.set(`${turn} ${callId}`, message);
    if (calls) for (const { id } of calls) called.add(`${turn} ${id}`);
  }
  const keyOf = ({ tool_call_id }: { readonly tool_call_id: string }): string =>
    `${turn} ${tool_call_id}`;
  const waiting = new Map<string, ToolState>([
    ...inputs.map((input) => [keyOf(input), 'asking'] as const),
    ...approvals.map((approval) => [keyOf(approval), 'waiting'] as const),
  ]);
  const isLive = status === 'processing' || status === 'paused';
  turn = 0;
  return messages.flatMap((message) => {
    const { tool_call_id: callId } = message.metadata;
    if (message.role === 'user') turn += 1;
    const isResult = message.role === 'tool' && callId !== undefined;
    if (isResult && called.has(`${turn} ${callId}`)) return [];
    const calls = isResult
      ? [
          {
            call: callOf(message, callId),
            result: message,
            state: stateOf(message, undefined, false),
          },
        ]
      : (message.metadata.tool_calls?.map((call) => {
          const key = `${turn} ${call.id}`;
          const result = results.get(key) ?? null;
          const isWritten = result || call.partial !== true || !isLive;
          const state = isWritten
            ? stateOf(result, waiting.get(key), isLive)
            : call.written
              ? 'next'
              : 'writing';
          return { call, result, state };
        }) ?? noCalls);
    const isStreaming = message.metadata.streaming === true && status === 'processing';
    const row = { message, calls, isStreaming };
    const known = old.get(message.id);
    return [known && isSame(known, row) ? known : row];
  });
}

function stateOf(
  result: UiMessage | null,
  waiting: ToolState | undefined,
  isLive: boolean,
): ToolState {
  if (result) return hasToolError(result) ? 'error' : 'done';
  return waiting ?? (isLive ? 'running' : 'open');
}

/** Whether it is a result without a visible call, for example after a truncated history. */
const callOf = ({ metadata }: UiMessage, id: string): UiToolCall => ({
  id,
  name: metadata.tool_name ?? 'tool',
  args: null,
  args_summary: '',
});

const isSame = (a: ConversationRow, b: ConversationRow): boolean =>
  a.message === b.message &&
  a.isStreaming === b.isStreaming &&
  a.calls.length === b.calls.length &&
  a.calls.every((call, i) => {
    const other = b.calls[i];
    return call.result === other?.result && call.state === other.state;
  });
