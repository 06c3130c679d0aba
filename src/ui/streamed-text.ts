import type { EnvelopeOf } from '../broadcasting/envelope.ts';
import { noText, withPiece, type Counted, type GrowingText } from './growing-text.ts';
import { trackOf, type Discard, type UiRun } from './log-snapshot.ts';
import type { UiMessage } from './ui-message.ts';

/** An unfinished text. */
export interface StreamedText extends GrowingText {
  readonly executionId: string;
  readonly agentId: string;
  /** Null for the root agent. */
  readonly parentId: string | null;
  readonly messageId: string;
  readonly step: number;
  readonly attempt: number;
  /** How often this attempt had been discarded when the text started. */
  readonly discards: number;
  readonly counted: Counted;
  readonly timestamp: string;
  readonly lastAt: string;
}

export type Chunk = EnvelopeOf<'agent.stream.chunk'>;
export type ReasoningChunk = EnvelopeOf<'agent.reasoning.chunk'>;

export const isOf = (
  live: StreamedText,
  { execution_id, payload }: Chunk | ReasoningChunk,
): boolean =>
  live.messageId === payload.message_id &&
  live.attempt === payload.attempt &&
  live.executionId === execution_id &&
  (payload.offset === undefined || live.discards === (payload.restart ?? 0));

export function newText(chunk: Chunk | ReasoningChunk): StreamedText {
  const { execution_id, agent_id, parent_agent_id, timestamp, payload } = chunk;
  return {
    executionId: execution_id,
    agentId: agent_id,
    parentId: parent_agent_id ?? null,
    messageId: payload.message_id,
    step: payload.step,
    attempt: payload.attempt,
    discards: payload.restart ?? 0,
    counted: payload.offset === undefined ? 'pieces' : 'characters',
    ...noText,
    timestamp,
    lastAt: timestamp,
  };
}

/** Adds a chunk; returns the same object if it is known or late. */
export function extended(
  live: StreamedText,
  { payload, timestamp }: Chunk | ReasoningChunk,
): StreamedText {
  const { offset, content } = payload;
  const index = 'chunk_index' in payload ? payload.chunk_index : 0;
  const { counted } = live;
  if ((offset === undefined) !== (counted === 'pieces')) return live;
  const next = withPiece(live, offset ?? index, content, counted);
  return next === live || timestamp <= live.lastAt ? next : { ...next, lastAt: timestamp };
}

/** Whether the log has finished this text, restarted its step, or moved to another run. */
export function isOver(live: StreamedText, run: UiRun): boolean {
  const { doneStep, startedAt } = trackOf(run, live.agentId);
  return (
    run.id !== live.executionId ||
    run.status !== 'processing' ||
    live.step <= doneStep ||
    live.lastAt < startedAt
  );
}

export const discardsOf = (live: StreamedText, run: UiRun): readonly Discard[] =>
  trackOf(run, live.agentId).discarded.filter(
    ({ step, attempt }) => step === live.step && attempt === live.attempt,
  );

/** Key of one attempt of one agent. */
export const attemptKey = ({ executionId, agentId, step, attempt }: StreamedText): string =>
  `${executionId}:${agentId}:${step}:${attempt}`;

const streaming: UiMessage['metadata'] = Object.freeze({ streaming: true });

/** Creates the row of an unfinished message: its text, its reasoning, or both. */
export function liveRow(
  said: StreamedText | undefined,
  reasoning: StreamedText | null,
): UiMessage | null {
  const first = reasoning ?? said;
  if (!first) return null;
  const { messageId: id, timestamp } = said ?? first;
  const thought = reasoning?.messageId === id ? reasoning.text : '';
  return {
    id,
    role: 'assistant',
    content: said?.text ?? '',
    timestamp,
    metadata: thought === '' ? streaming : { streaming: true, reasoning: thought },
  };
}
