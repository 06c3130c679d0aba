import type { Envelope, EnvelopeOf } from '../envelope.ts';
import { sseBytes } from './sse-frame.ts';

type Chunk = EnvelopeOf<'agent.stream.chunk'>;
type ReasoningChunk = EnvelopeOf<'agent.reasoning.chunk'>;
type Delta = EnvelopeOf<'agent.tool.delta'>;

/** Counts the characters of all sessions together, and limits each. */
export interface SseMeter {
  used: number;
  readonly maxEach: number;
}

/** A text that is being made: its newest piece, and the contents of all from the first. */
interface KeptText<Piece extends Chunk | ReasoningChunk> {
  last: Piece;
  length: number;
  readonly contents: string[];
}

/** What one agent is saying right now. */
interface Unfinished {
  reasoning: KeptText<ReasoningChunk> | null;
  text: KeptText<Chunk> | null;
  readonly calls: Map<string, Delta>;
  size: number;
}

/**
 * Text, reasoning and arguments that are being made, of one session: not in the log yet, and a client that comes in the
 * middle wants to see them. Pieces are kept as plain text, because there are thousands; envelopes are made on demand.
 */
export class SseUnfinished {
  readonly #meter: SseMeter;
  readonly #agents: Map<string, Unfinished> = new Map();
  #executionId = '';
  #size = 0;

  constructor(meter: SseMeter) {
    this.#meter = meter;
  }

  get isEmpty(): boolean {
    return this.#agents.size === 0;
  }

  /** Records an envelope. A numbered one ends the unfinished text of its agent. */
  note(envelope: Envelope): void {
    if (envelope.execution_id !== this.#executionId) this.clear(envelope.execution_id);
    if (envelope.type === 'agent.stream.chunk') {
      const agent = this.#of(envelope.agent_id);
      agent.text = this.#withPiece(agent, agent.text, envelope);
    } else if (envelope.type === 'agent.reasoning.chunk') {
      const agent = this.#of(envelope.agent_id);
      agent.reasoning = this.#withPiece(agent, agent.reasoning, envelope);
    } else if (envelope.type === 'agent.tool.delta') this.#addDelta(envelope);
    else if (envelope.seq !== null) this.#forget(envelope.agent_id);
  }

  clear(executionId: string = ''): void {
    this.#executionId = executionId;
    for (const agentId of this.#agents.keys()) this.#forget(agentId);
  }

  /** Returns envelopes in order, one for the arguments of each call. */
  frames(): Uint8Array[] {
    return Array.from(this.#agents.values(), ({ reasoning, text, calls }) => [
      ...piecesOf(reasoning),
      ...piecesOf(text),
      ...calls.values(),
    ])
      .flat()
      .map(sseBytes);
  }

  /** The text with one more piece; null without its beginning, which is no use to a reader. */
  #withPiece<Piece extends Chunk | ReasoningChunk>(
    agent: Unfinished,
    known: KeptText<Piece> | null,
    piece: Piece,
  ): KeptText<Piece> | null {
    const { content } = piece.payload;
    const text = known && isSameText(known.last, piece) ? known : null;
    if (!isNext(text, piece)) return text;
    if (!this.#reserve(agent, content.length)) return text;
    if (text === null) return { last: piece, length: content.length, contents: [content] };
    text.last = piece;
    text.length += content.length;
    text.contents.push(content);
    return text;
  }

  #addDelta(delta: Delta): void {
    const { tool_call_id: id, args_delta: more } = delta.payload;
    const agent = this.#of(delta.agent_id);
    const args = agent.calls.get(id)?.payload.args_delta ?? '';
    const { offset = args.length } = delta.payload;
    if (offset !== args.length || !this.#reserve(agent, more.length)) return;
    const payload = { ...delta.payload, args_delta: args + more, ...withOffset(delta.payload, 0) };
    agent.calls.set(id, { ...delta, payload });
  }

  #of(agentId: string): Unfinished {
    let agent = this.#agents.get(agentId);
    if (!agent) {
      agent = { reasoning: null, text: null, calls: new Map(), size: 0 };
      this.#agents.set(agentId, agent);
    }
    return agent;
  }

  #reserve(agent: Unfinished, chars: number): boolean {
    const cost = chars + CHUNK_COST;
    if (this.#size + cost > this.#meter.maxEach) return false;
    agent.size += cost;
    this.#count(cost);
    return true;
  }

  #forget(agentId: string): void {
    const agent = this.#agents.get(agentId);
    if (!agent) return;
    this.#agents.delete(agentId);
    this.#count(-agent.size);
  }

  #count(cost: number): void {
    this.#size += cost;
    this.#meter.used += cost;
  }
}

/** Adds an offset only if the original had one. */
const withOffset = (
  payload: { readonly offset?: number },
  offset: number,
): { readonly offset?: number } => (payload.offset === undefined ? {} : { offset });

/** Characters that a chunk counts in addition to its text. */
const CHUNK_COST = 24;

const isSameText = (
  { payload: a }: Chunk | ReasoningChunk,
  { payload: b }: Chunk | ReasoningChunk,
): boolean => a.message_id === b.message_id && a.attempt === b.attempt && a.restart === b.restart;

/** Whether a piece continues a text, or begins one; chunks of earlier releases have no position and are counted. */
function isNext(
  text: KeptText<Chunk | ReasoningChunk> | null,
  { payload }: Chunk | ReasoningChunk,
): boolean {
  if (payload.offset !== undefined) return payload.offset === (text?.length ?? 0);
  return 'chunk_index' in payload && payload.chunk_index === (text?.contents.length ?? 0);
}

function piecesOf(text: KeptText<Chunk | ReasoningChunk> | null): (Chunk | ReasoningChunk)[] {
  if (text === null) return [];
  const { last, contents } = text;
  let offset = 0;
  return contents.map((content, i) => {
    const at = offset;
    offset += content.length;
    if (last.type === 'agent.reasoning.chunk')
      return { ...last, payload: { ...last.payload, content, offset: at } };
    const { payload } = last;
    const behind = contents.length - 1 - i;
    return {
      ...last,
      payload: {
        ...payload,
        chunk_index: payload.chunk_index - behind,
        content,
        ...withOffset(payload, at),
        is_complete: behind === 0 && payload.is_complete,
      },
    };
  });
}
