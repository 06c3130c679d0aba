import { isRunEnd, type AgentEvent, type EventOf } from '../../events/agent-event.ts';
import {
  isLiveStreamed,
  type LiveEvent,
  type LiveStreamed,
  type StreamedEvent,
  type StreamedText,
  type TextSoFar,
} from './live-source.ts';
import { finishedBy, TextMarks } from './text-marks.ts';

/** The newest piece of a text, and the contents of all pieces as bare text, because there may be thousands. */
interface KeptText {
  last: StreamedText;
  contents: string[];
}

/** Text that one agent streams. */
interface Streamed extends Record<StreamedText['type'], KeptText | null> {
  size: number;
  readonly calls: Map<string, { readonly delta: EventOf<'ToolCallDelta'>; readonly args: string }>;
}

interface SessionText {
  readonly executionId: string;
  readonly owner: string;
  follows: number;
  readonly marks: TextMarks;
  readonly agents: Map<string, Streamed>;
  size: number;
}

/** Most characters that are kept for one session, and for all. */
const MOST_EACH = 0x40000;
const MOST = 0x2000000;
/** Cost of a piece in addition to its characters. */
const COST_OF_PIECE = 24;

/** Text that the workers of this process have streamed and that is not in the log yet, by session. */
export class LiveTexts {
  readonly #sessions: Map<string, SessionText> = new Map();
  #size = 0;

  of(sessionId: string): TextSoFar | null {
    const session = this.#sessions.get(sessionId);
    if (!session) return null;
    const { executionId, follows, owner, agents } = session;
    const base = { sessionId, owner, seq: null, follows };
    const events = Array.from(agents.values(), (agent) =>
      eventsOf(agent).map((event): LiveStreamed => ({ ...base, event })),
    ).flat();
    return { executionId, follows, events };
  }

  note(live: LiveEvent): void {
    const { sessionId, seq, event } = live;
    const session = this.#sessions.get(sessionId);
    if (seq !== null) {
      if (!session) return;
      session.follows = seq;
      if (session.executionId !== event.executionId || isRunEnd(event)) this.forget(sessionId);
      else this.#finish(session, event);
      if (session.agents.size === 0) this.forget(sessionId);
    } else if (isLiveStreamed(live)) {
      if (session && session.executionId !== event.executionId) this.forget(sessionId);
      this.#add(live);
    }
  }

  forget(sessionId: string): void {
    const session = this.#sessions.get(sessionId);
    if (!session) return;
    this.#sessions.delete(sessionId);
    this.#size -= session.size;
  }

  #add({ sessionId, owner, follows, event }: LiveStreamed): void {
    let session = this.#sessions.get(sessionId);
    if (!session) {
      const { executionId } = event;
      session = {
        executionId,
        owner,
        follows,
        marks: new TextMarks(),
        agents: new Map(),
        size: 0,
      };
      this.#sessions.set(sessionId, session);
    }
    const piece = event.type === 'ToolCallDelta' ? event.argsDelta : event.content;
    const cost = piece.length + COST_OF_PIECE;
    // keep only the beginning of a long text, and nothing of a text without its beginning
    if (session.size + cost > MOST_EACH || session.marks.take(event) !== 'next') return;
    session.size += cost;
    this.#size += cost;
    append(agentIn(session, event.agentId), event, cost);
    // the end of a run that another process took over is never seen
    for (const oldest of this.#sessions.keys()) {
      if (this.#size <= MOST) break;
      this.forget(oldest);
    }
  }

  #finish(session: SessionText, event: AgentEvent): void {
    const agent = session.agents.get(event.agentId);
    if (!agent) return;
    session.marks.finish(event);
    const finished = finishedBy(event);
    let freed = 0;
    if (finished !== 'text' && finished !== 'all') {
      const { toolCallId } = finished;
      freed = agent.calls.get(toolCallId)?.args.length ?? 0;
      agent.calls.delete(toolCallId);
    } else if (finished === 'text') {
      freed = textCost(agent.StreamChunk) + textCost(agent.ReasoningDelta);
      agent.StreamChunk = agent.ReasoningDelta = null;
    } else {
      freed = agent.size;
      session.agents.delete(event.agentId);
    }
    agent.size -= freed;
    session.size -= freed;
    this.#size -= freed;
  }
}

function agentIn({ agents }: SessionText, agentId: string): Streamed {
  let agent = agents.get(agentId);
  if (!agent) {
    agent = { StreamChunk: null, ReasoningDelta: null, size: 0, calls: new Map() };
    agents.set(agentId, agent);
  }
  return agent;
}

function append(agent: Streamed, event: StreamedEvent, cost: number): void {
  agent.size += cost;
  if (event.type !== 'ToolCallDelta') {
    const { content, offset, type } = event;
    const text = agent[type];
    if (!text || offset === 0) agent[type] = { last: event, contents: [content] };
    else {
      text.last = event;
      text.contents.push(content);
    }
    return;
  }
  const { toolCallId, argsDelta } = event;
  const args = (agent.calls.get(toolCallId)?.args ?? '') + argsDelta;
  agent.calls.set(toolCallId, { delta: event, args });
}

const textCost = (text: KeptText | null): number =>
  text?.contents.reduce((sum, { length }) => sum + length + COST_OF_PIECE, 0) ?? 0;

function eventsOf({
  StreamChunk: answer,
  ReasoningDelta: reasoning,
  calls,
}: Streamed): StreamedEvent[] {
  const events: StreamedEvent[] = [];
  for (const text of [reasoning, answer]) {
    let offset = 0;
    for (const [i, content] of text?.contents.entries() ?? []) {
      if (!text) break;
      const index = text.last.index - (text.contents.length - 1 - i);
      events.push({ ...text.last, index, content, offset });
      offset += content.length;
    }
  }
  for (const { delta, args } of calls.values())
    events.push({ ...delta, argsDelta: args, offset: 0 });
  return events;
}
