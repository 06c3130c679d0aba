import { isNumbered, type AgentEvent, type EventOf } from '../events/agent-event.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { SessionEvent } from '../sessions/session-worker.ts';
import type { Refill } from './envelope.ts';
import { assembled } from './envelope-of.ts';

type Unfinished = NonNullable<Refill['unfinished']>[number];

/** What one agent is saying: the newest piece of each text, and the whole of it. */
interface Speech {
  chunk: EventOf<'StreamChunk'> | null;
  text: string;
  readonly calls: Map<string, { readonly delta: EventOf<'ToolCallDelta'>; readonly args: string }>;
}

interface Talk {
  readonly executionId: string;
  readonly agents: Map<string, Speech>;
  size: number;
}

/** Characters that are kept of one session, and of all. */
const MOST_EACH = 0x40000;
const MOST = 0x2000000;

export interface LiveTextsUser {
  readonly hear: (told: SessionEvent) => void;
  /** The last one takes everything along. */
  leave(): void;
}

const kept = new WeakMap<SessionRuntime, LiveTexts>();

/**
 * What the sessions of a runtime are saying right now, by session: it is in no log, and a client that comes in the
 * middle asks for it. Kept while somebody broadcasts the runtime, once for all of them.
 */
export class LiveTexts {
  readonly #talks: Map<string, Talk> = new Map();
  #size = 0;
  readonly #users: Set<object> = new Set();

  /** For one who listens to the runtime anyway, and hands on what it hears. */
  static keep(runtime: SessionRuntime): LiveTextsUser {
    const texts = kept.get(runtime) ?? new LiveTexts();
    kept.set(runtime, texts);
    const user: LiveTextsUser = {
      hear: (told) => texts.#hear(told),
      leave() {
        texts.#users.delete(user);
        if (texts.#users.size === 0 && kept.get(runtime) === texts) kept.delete(runtime);
      },
    };
    texts.#users.add(user);
    return user;
  }

  /** Of a session that this process works on and somebody broadcasts; else nothing. */
  static of(
    runtime: SessionRuntime,
    sessionId: string,
    executionId: string | null,
  ): readonly Unfinished[] {
    const texts = kept.get(runtime);
    const talk = texts === undefined ? undefined : texts.#talks.get(sessionId);
    if (talk === undefined || talk.executionId !== executionId) return [];
    return Array.from(talk.agents.values()).flatMap((speech) => written(speech, sessionId));
  }

  /** All users tell the same: whatever is told twice changes nothing the second time. */
  #hear({ sessionId, event }: SessionEvent): void {
    let talk = this.#talks.get(sessionId);
    if (isNumbered(event.type)) {
      if (!talk) return;
      if (talk.executionId !== event.executionId || isEnd(event)) this.#forget(sessionId, talk);
      else this.#finish(talk, event);
      return;
    }
    if (talk && talk.executionId !== event.executionId) this.#forget(sessionId, talk);
    talk = this.#talks.get(sessionId);
    if (!talk) {
      talk = { executionId: event.executionId, agents: new Map(), size: 0 };
      this.#talks.set(sessionId, talk);
    }
    if (event.type === 'StreamChunk') this.#addChunk(talk, event);
    else if (event.type === 'ToolCallDelta') this.#addDelta(talk, event);
    for (const [id, oldest] of this.#talks) {
      if (this.#size <= MOST) break;
      this.#forget(id, oldest);
    }
  }

  #addChunk(talk: Talk, chunk: EventOf<'StreamChunk'>): void {
    const speech = speechOf(talk, chunk.agentId);
    const { content, offset } = chunk;
    if (offset === 0) this.#dropText(talk, speech);
    // without its beginning it is no use to anybody
    else if (!speech.chunk || !isSame(speech.chunk, chunk) || offset !== speech.text.length) return;
    if (!this.#hasRoom(talk, content.length)) return;
    speech.chunk = chunk;
    speech.text += content;
  }

  #addDelta(talk: Talk, delta: EventOf<'ToolCallDelta'>): void {
    const speech = speechOf(talk, delta.agentId);
    const { toolCallId, argsDelta, offset } = delta;
    const args = speech.calls.get(toolCallId)?.args ?? '';
    if (offset !== args.length || !this.#hasRoom(talk, argsDelta.length)) return;
    speech.calls.set(toolCallId, { delta, args: args + argsDelta });
  }

  #hasRoom(talk: Talk, chars: number): boolean {
    if (talk.size + chars > MOST_EACH) return false;
    this.#count(talk, chars);
    return true;
  }

  #count(talk: Talk, chars: number): void {
    talk.size += chars;
    this.#size += chars;
  }

  /** The log has a part of what an agent was saying: its text, one of its calls, or, with the step, all of it. */
  #finish(talk: Talk, event: AgentEvent): void {
    const speech = talk.agents.get(event.agentId);
    if (!speech) return;
    switch (event.type) {
      case 'MessageAdded':
        return this.#dropText(talk, speech);
      case 'ToolCallStarted':
      case 'ToolCallCompleted':
      case 'ToolApprovalRequested':
        return this.#dropCall(talk, speech, event.toolCallId);
      default:
        this.#dropText(talk, speech);
        for (const id of Array.from(speech.calls.keys())) this.#dropCall(talk, speech, id);
        talk.agents.delete(event.agentId);
    }
  }

  #dropText(talk: Talk, speech: Speech): void {
    this.#count(talk, -speech.text.length);
    speech.chunk = null;
    speech.text = '';
  }

  #dropCall(talk: Talk, { calls }: Speech, id: string): void {
    this.#count(talk, -(calls.get(id)?.args.length ?? 0));
    calls.delete(id);
  }

  #forget(sessionId: string, talk: Talk): void {
    this.#talks.delete(sessionId);
    this.#size -= talk.size;
  }
}

function speechOf({ agents }: Talk, agentId: string): Speech {
  let speech = agents.get(agentId);
  if (!speech) {
    speech = { chunk: null, text: '', calls: new Map() };
    agents.set(agentId, speech);
  }
  return speech;
}

const isSame = (a: EventOf<'StreamChunk'>, b: EventOf<'StreamChunk'>): boolean =>
  a.messageId === b.messageId && a.attempt === b.attempt && a.restart === b.restart;

const isEnd = ({ type, parentAgentId }: AgentEvent): boolean =>
  parentAgentId === null &&
  (type === 'AgentFinished' || type === 'AgentFailed' || type === 'AgentPaused');

function written({ chunk, text, calls }: Speech, sessionId: string): Unfinished[] {
  const all: Unfinished[] = [];
  if (chunk !== null) {
    const { messageId, stepNumber, attempt, index, restart } = chunk;
    const payload = {
      message_id: messageId,
      step: stepNumber,
      attempt,
      chunk_index: index,
      content: text,
      offset: 0,
      ...(restart !== undefined && { restart }),
      is_complete: false,
    };
    const envelope = assembled('agent.stream.chunk', chunk, sessionId, null, null, payload);
    all.push(envelope as Unfinished); // of the type that was asked for
  }
  for (const [tool_call_id, { delta, args }] of calls) {
    const payload = { tool_call_id, args_delta: args, offset: 0 };
    const envelope = assembled('agent.tool.delta', delta, sessionId, null, null, payload);
    all.push(envelope as Unfinished);
  }
  return all;
}
