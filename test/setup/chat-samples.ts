import { expect } from 'vitest';
import type { InferenceResponse } from '../../src/inference/inference-driver.ts';
import { delta } from './loopback.ts';
import { everyByte, readChat, type Reading } from './read-chat.ts';

/** One chunk of a tool call, without the null fields. */
export const piece = (
  index: number | null,
  id: string | null,
  name: string | null,
  args: string,
): Record<string, unknown> => ({
  ...(index === null ? null : { index }),
  ...(id === null ? null : { id }),
  function: { ...(name === null ? null : { name }), arguments: args },
});
export const calls = (...pieces: readonly unknown[]): Record<string, unknown> =>
  delta({ tool_calls: pieces });
export const end = (word: string | null): Record<string, unknown> => delta({}, word);
export const usage: Record<string, number> = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
};

export const call = (
  name: string,
  args: Record<string, unknown>,
  id: string | null = null,
): { id: string | null; name: string; args: Record<string, unknown> } => ({
  id,
  name,
  args,
});

/** Name, wire text, expected response. */
export type Sample = readonly [string, string, Partial<InferenceResponse>];

/** Ways to split a stream. */
export const ways: readonly (readonly [string, (text: string) => Reading])[] = [
  ['in one piece', (text) => readChat(text)],
  ['byte by byte', (text) => readChat(text, everyByte(text))],
  [
    'in pieces of seven',
    (text) =>
      readChat(
        text,
        everyByte(text).filter((i) => i % 7 === 0),
      ),
  ],
];

/** Checks the response, that there is no failure, and that the streamed text equals its content. */
export function isRead(
  { response, failure, shown }: Reading,
  expected: Partial<InferenceResponse>,
): void {
  expect(failure).toBeNull();
  expect(response).toMatchObject(expected);
  expect(shown).toBe(response?.content);
}
