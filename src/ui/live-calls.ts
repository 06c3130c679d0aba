import type { EnvelopeOf } from '../broadcasting/envelope.ts';
import { MAX_CHARS } from './bounded.ts';
import { noText, withPiece, type GrowingText } from './growing-text.ts';
import type { UiMessage, UiToolCall } from './ui-message.ts';

/** Streamed arguments of an unfinished call. */
export interface LiveCall {
  readonly executionId: string;
  readonly agentId: string;
  readonly id: string;
  /** Name of the tool; '' from an earlier server. */
  readonly name: string;
  /** Text by chunk offsets. For an earlier server, which sends no offsets, the fields below are used. */
  readonly grown: GrowingText;
  readonly settled: string;
  /** The newest chunks, ordered by time, because they have no number: a late one is inserted at its time. */
  readonly recent: readonly { readonly at: string; readonly text: string }[];
  /** Whether the text starts as an object. If not, its beginning is missing, and it is not shown. */
  readonly isWhole: boolean;
  readonly timestamp: string;
  readonly lastAt: string;
}

export type Delta = EnvelopeOf<'agent.tool.delta'>;

const MAX_RECENT = 32;

export const newCall = ({ execution_id, agent_id, payload, timestamp }: Delta): LiveCall => ({
  executionId: execution_id,
  agentId: agent_id,
  id: payload.tool_call_id,
  name: payload.tool ?? '',
  grown: noText,
  settled: '',
  recent: [],
  isWhole: false,
  timestamp,
  lastAt: '',
});

/** Adds a chunk; returns the same object if it is known: the same text at the same time counts as a copy. */
export function grown(call: LiveCall, { payload, timestamp: at }: Delta): LiveCall {
  const { args_delta: text, offset } = payload;
  if (offset !== undefined) return withOffset(call, offset, text, at);
  const { recent } = call;
  if (text === '' || call.settled.length > MAX_CHARS) return call;
  if (recent.some((piece) => piece.at === at && piece.text === text)) return call;
  const lastAt = at > call.lastAt ? at : call.lastAt;
  // a client that reconnects gets the arguments from their beginning
  if (isFromStart(text, call)) return { ...call, settled: '', recent: [{ at, text }], lastAt };
  let index = recent.length;
  while (index > 0 && (recent[index - 1]?.at ?? '') > at) index--;
  const all = recent.toSpliced(index, 0, { at, text });
  const first = all[0]?.text ?? '';
  const isWhole = call.settled === '' ? first.trimStart().startsWith('{') : call.isWhole;
  return all.length > MAX_RECENT
    ? { ...call, settled: call.settled + first, recent: all.slice(1), isWhole, lastAt }
    : { ...call, recent: all, isWhole, lastAt };
}

function withOffset(call: LiveCall, offset: number, text: string, at: string): LiveCall {
  const grown = withPiece(call.grown, offset, text, 'characters');
  if (grown === call.grown) return call;
  return { ...call, grown, lastAt: at > call.lastAt ? at : call.lastAt };
}

function isFromStart(text: string, call: LiveCall): boolean {
  if (call.recent.length === 0 || text.length < call.settled.length) return false;
  return text.startsWith(argsText(call));
}

const argsText = ({ settled, recent }: LiveCall): string =>
  recent.reduce((all, { text }) => all + text, settled);

/** A model writes one call after the other: all but the last are complete. */
function partialCall(call: LiveCall, isLast: boolean): UiToolCall {
  const args = call.grown.text || (call.isWhole ? argsText(call) : '');
  const shown = { id: call.id, name: call.name, args, args_summary: args, partial: true } as const;
  return isLast ? shown : { ...shown, written: true };
}

/** Adds unfinished calls to the streamed text of the same message, else to a new row. */
export function withCallsRow(row: UiMessage | null, calls: readonly LiveCall[]): UiMessage | null {
  const [first] = calls;
  if (!first) return row;
  return {
    id: row?.id ?? `${first.executionId}:calls:${first.id}`,
    role: 'assistant',
    content: row?.content ?? '',
    timestamp: row?.timestamp ?? first.timestamp,
    metadata: {
      ...row?.metadata,
      streaming: true,
      tool_calls: calls.map((call, i) => partialCall(call, i === calls.length - 1)),
    },
  };
}
