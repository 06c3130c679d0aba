import type { EnvelopeOf } from '../broadcasting/envelope.ts';
import { MOST_CHARS } from './bounded.ts';
import { trackOf, type Discard, type UiRun } from './screen.ts';
import type { UiMessage } from './ui-message.ts';

/** A text while it is being made: what came of it from its beginning without a hole. */
export interface LiveText {
  readonly executionId: string;
  readonly agentId: string;
  /** Null for the agent that the user talks to. */
  readonly parentId: string | null;
  readonly messageId: string;
  readonly step: number;
  readonly attempt: number;
  /** How often this attempt had been discarded when the text began. */
  readonly discards: number;
  readonly text: string;
  /** Number of the chunk that comes next, and what came too early. */
  readonly next: number;
  readonly ahead: Readonly<Record<number, string>>;
  readonly timestamp: string;
  readonly lastAt: string;
}

/** A chunk that is this late is lost: the finished message will bring it. */
const MOST_AHEAD = 64;

export type Chunk = EnvelopeOf<'agent.stream.chunk'>;

export const isOf = (live: LiveText, { execution_id, payload }: Chunk): boolean =>
  live.messageId === payload.message_id &&
  live.attempt === payload.attempt &&
  live.executionId === execution_id;

export function newText(chunk: Chunk): LiveText {
  const { execution_id, agent_id, parent_agent_id, timestamp, payload } = chunk;
  return {
    executionId: execution_id,
    agentId: agent_id,
    parentId: parent_agent_id ?? null,
    messageId: payload.message_id,
    step: payload.step,
    attempt: payload.attempt,
    discards: 0,
    text: '',
    next: 0,
    ahead: {},
    timestamp,
    lastAt: timestamp,
  };
}

/** A text beyond what a screen takes stays as it is until the finished message comes. */
const longer = (text: string, more: string): string =>
  text.length < MOST_CHARS ? text + more : text;

/** With one more chunk; the same object if it is known or comes too late. */
export function extended(live: LiveText, { payload, timestamp }: Chunk): LiveText {
  const { chunk_index: index, content } = payload;
  if (index < live.next || live.ahead[index] !== undefined) return live;
  const lastAt = timestamp > live.lastAt ? timestamp : live.lastAt;
  if (index > live.next) {
    if (Object.keys(live.ahead).length >= MOST_AHEAD) return live;
    return { ...live, lastAt, ahead: { ...live.ahead, [index]: content } };
  }
  let text = longer(live.text, content);
  let next = index + 1;
  let { ahead } = live;
  for (let more = ahead[next]; more !== undefined; more = ahead[next]) {
    const { [next]: _, ...rest } = ahead;
    ahead = rest;
    text = longer(text, more);
    next++;
  }
  return { ...live, text, next, ahead, lastAt };
}

/** Whether the log says that this text is finished, of a step that began anew, or of another run. */
export function isOver(live: LiveText, run: UiRun): boolean {
  const { doneStep, startedAt } = trackOf(run, live.agentId);
  return (
    run.id !== live.executionId ||
    run.status !== 'processing' ||
    live.step <= doneStep ||
    live.lastAt < startedAt
  );
}

export const discardsOf = (live: LiveText, run: UiRun): readonly Discard[] =>
  trackOf(run, live.agentId).discarded.filter(
    ({ step, attempt }) => step === live.step && attempt === live.attempt,
  );

/** One attempt of one agent. */
export const attemptKey = ({ executionId, agentId, step, attempt }: LiveText): string =>
  `${executionId}:${agentId}:${step}:${attempt}`;

const streaming: UiMessage['metadata'] = Object.freeze({ streaming: true });

export const liveRow = ({ messageId, text, timestamp }: LiveText): UiMessage => ({
  id: messageId,
  role: 'assistant',
  content: text,
  timestamp,
  metadata: streaming,
});
