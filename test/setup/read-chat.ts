import { ChatAnswer } from '../../src/inference/drivers/chat-answer.ts';
import type { InferenceChunk, InferenceResponse } from '../../src/inference/inference-driver.ts';
import { readFailure } from '../../src/inference/inference-error.ts';

export interface Reading {
  readonly chunks: readonly InferenceChunk[];
  /** The joined content chunks. */
  readonly shown: string;
  readonly response: InferenceResponse | null;
  readonly failure: ReturnType<typeof readFailure> | null;
}

/** Reads a Chat Completions answer, split at these byte offsets. */
export function readChat(text: string, cuts: readonly number[] = []): Reading {
  const bytes = new TextEncoder().encode(text);
  const answer = new ChatAnswer({ status: 200, headers: {}, server: 'http://test', now: 0 });
  const chunks: InferenceChunk[] = [];
  const edges = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])];
  const sorted = edges.toSorted((a, b) => a - b);
  for (const [i, start] of sorted.entries()) {
    if (answer.isDone || i === sorted.length - 1) break;
    chunks.push(...answer.feed(bytes.slice(start, sorted[i + 1])));
  }
  chunks.push(...answer.end());
  const last = chunks.at(-1);
  return {
    chunks,
    shown: chunks.map((chunk) => (chunk.type === 'content' ? chunk.text : '')).join(''),
    response: last?.type === 'done' ? last.response : null,
    failure: answer.failure ? readFailure(answer.failure) : null,
  };
}

export const everyByte = (text: string): number[] =>
  Array.from({ length: new TextEncoder().encode(text).length }, (_, i) => i);

/** Formats chunks as server-sent events. */
export const events = (...chunks: readonly unknown[]): string =>
  chunks
    .map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`)
    .join('');
