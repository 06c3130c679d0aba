import type { EnvelopeOf } from '../broadcasting/envelope.ts';
import { MOST_CHARS } from './bounded.ts';
import { noText, withPiece, type GrowingText } from './growing-text.ts';
import type { UiMessage, UiToolCall } from './ui-message.ts';

/** Arguments of a call while they are being made. */
export interface LiveCall {
  readonly executionId: string;
  readonly agentId: string;
  readonly id: string;
  /** By the places of its pieces. Of an earlier server, which does not tell them, the rest is used. */
  readonly grown: GrowingText;
  readonly settled: string;
  /** The newest pieces in order of time, for there they have no number: one that comes late is put in its place. */
  readonly recent: readonly { readonly at: string; readonly text: string }[];
  /** Arguments are an object: a text that does not begin as one has lost its beginning, and is not shown. */
  readonly isWhole: boolean;
  readonly timestamp: string;
  readonly lastAt: string;
}

export type Delta = EnvelopeOf<'agent.tool.delta'>;

const MOST_RECENT = 32;

export const newCall = ({ execution_id, agent_id, payload, timestamp }: Delta): LiveCall => ({
  executionId: execution_id,
  agentId: agent_id,
  id: payload.tool_call_id,
  grown: noText,
  settled: '',
  recent: [],
  isWhole: false,
  timestamp,
  lastAt: '',
});

/** With one more piece; the same object if it is known: the same words of the same moment are taken for a copy. */
export function grown(call: LiveCall, { payload, timestamp: at }: Delta): LiveCall {
  const { args_delta: text, offset } = payload;
  if (offset !== undefined) return withPlaced(call, offset, text, at);
  const { recent } = call;
  if (text === '' || call.settled.length > MOST_CHARS) return call;
  if (recent.some((piece) => piece.at === at && piece.text === text)) return call;
  const lastAt = at > call.lastAt ? at : call.lastAt;
  // a client that comes back is told the arguments from their beginning
  if (isFromStart(text, call)) return { ...call, settled: '', recent: [{ at, text }], lastAt };
  let place = recent.length;
  while (place > 0 && (recent[place - 1]?.at ?? '') > at) place--;
  const all = recent.toSpliced(place, 0, { at, text });
  const first = all[0]?.text ?? '';
  const isWhole = call.settled === '' ? first.trimStart().startsWith('{') : call.isWhole;
  return all.length > MOST_RECENT
    ? { ...call, settled: call.settled + first, recent: all.slice(1), isWhole, lastAt }
    : { ...call, recent: all, isWhole, lastAt };
}

function withPlaced(call: LiveCall, offset: number, text: string, at: string): LiveCall {
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

function partialCall(call: LiveCall): UiToolCall {
  const args = call.grown.text || (call.isWhole ? argsText(call) : '');
  return { id: call.id, name: '', args, args_summary: args, partial: true };
}

/** On the text that is being made with them, else on a row of their own. */
export function withCallsRow(row: UiMessage | null, calls: readonly LiveCall[]): UiMessage | null {
  const [first] = calls;
  if (!first) return row;
  return {
    id: row?.id ?? `${first.executionId}:calls:${first.id}`,
    role: 'assistant',
    content: row?.content ?? '',
    timestamp: row?.timestamp ?? first.timestamp,
    metadata: { ...row?.metadata, streaming: true, tool_calls: calls.map(partialCall) },
  };
}
