import type { Envelope, EnvelopeOf } from '../envelope.ts';
import { sseBytes } from './sse-frame.ts';

type Chunk = EnvelopeOf<'agent.stream.chunk'>;
type Delta = EnvelopeOf<'agent.tool.delta'>;

/** How much is kept of all sessions together, and may be of each. */
export interface SseMeter {
  used: number;
  readonly mostEach: number;
}

/** What one agent is saying right now. */
interface Unfinished {
  /** The newest chunk, and the contents of all from the first. */
  chunk: Chunk | null;
  contents: string[];
  readonly calls: Map<string, Delta>;
  size: number;
}

/**
 * Text and arguments that are being made, of one session: not in the log yet, and a client that comes in the middle
 * wants to see them. Pieces are kept as plain text, because there are thousands; envelopes are made on demand.
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

  /** A numbered envelope of an agent says that it has said what it was saying. */
  note(envelope: Envelope): void {
    if (envelope.execution_id !== this.#executionId) this.clear(envelope.execution_id);
    if (envelope.type === 'agent.stream.chunk') this.#addChunk(envelope);
    else if (envelope.type === 'agent.tool.delta') this.#addDelta(envelope);
    else if (envelope.seq !== null) this.#forget(envelope.agent_id);
  }

  clear(executionId: string = ''): void {
    this.#executionId = executionId;
    for (const agentId of this.#agents.keys()) this.#forget(agentId);
  }

  /** As envelopes, in order; the arguments of a call in one. */
  frames(): Uint8Array[] {
    const frames: Uint8Array[] = [];
    for (const { chunk, contents, calls } of this.#agents.values()) {
      let offset = 0;
      if (chunk)
        for (const [i, content] of contents.entries()) {
          frames.push(chunkBytes(chunk, contents, i, offset));
          offset += content.length;
        }
      for (const delta of calls.values()) frames.push(sseBytes(delta));
    }
    return frames;
  }

  #addChunk(chunk: Chunk): void {
    const { message_id: id, attempt, restart, chunk_index: index, content } = chunk.payload;
    const agent = this.#of(chunk.agent_id);
    const before = agent.chunk?.payload;
    if (before?.message_id !== id || before.attempt !== attempt || before.restart !== restart) {
      agent.contents = [];
      agent.chunk = null;
      // without its beginning it is no use to anybody
      if ((chunk.payload.offset ?? index) !== 0) return;
    } else if (index !== before.chunk_index + 1) return;
    if (!this.#hasRoom(agent, content.length)) return;
    agent.chunk = chunk;
    agent.contents.push(content);
  }

  #addDelta(delta: Delta): void {
    const { tool_call_id: id, args_delta: more } = delta.payload;
    const agent = this.#of(delta.agent_id);
    const args = agent.calls.get(id)?.payload.args_delta ?? '';
    const { offset = args.length } = delta.payload;
    if (offset !== args.length || !this.#hasRoom(agent, more.length)) return;
    const payload = { ...delta.payload, args_delta: args + more, ...placed(delta.payload, 0) };
    agent.calls.set(id, { ...delta, payload });
  }

  #of(agentId: string): Unfinished {
    let agent = this.#agents.get(agentId);
    if (!agent) {
      agent = { chunk: null, contents: [], calls: new Map(), size: 0 };
      this.#agents.set(agentId, agent);
    }
    return agent;
  }

  #hasRoom(agent: Unfinished, chars: number): boolean {
    const cost = chars + COST_OF_PIECE;
    if (this.#size + cost > this.#meter.mostEach) return false;
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

/** Pieces that came without a position are returned without one. */
const placed = (
  payload: { readonly offset?: number },
  offset: number,
): { readonly offset?: number } => (payload.offset === undefined ? {} : { offset });

/** What a piece takes beside its characters. */
const COST_OF_PIECE = 24;

function chunkBytes(
  chunk: Chunk,
  contents: readonly string[],
  i: number,
  offset: number,
): Uint8Array {
  const behind = contents.length - 1 - i;
  const { payload } = chunk;
  return sseBytes({
    ...chunk,
    payload: {
      ...payload,
      chunk_index: payload.chunk_index - behind,
      content: contents[i] ?? '',
      ...placed(payload, offset),
      is_complete: behind === 0 && payload.is_complete,
    },
  });
}
