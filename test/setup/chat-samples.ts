import { expect } from 'vitest';
import type { InferenceResponse } from '../../src/inference/inference-driver.ts';
import { delta } from './loopback.ts';
import { everyByte, readChat, type Reading } from './read-chat.ts';

/** One piece of a tool call; what is null is left out. */
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

/** Name, wire text, what the answer must be. */
export type Sample = readonly [string, string, Partial<InferenceResponse>];

/** A stream may be cut anywhere. */
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

/** What holds for every answer: no failure, and no other text than the one that was shown. */
export function isRead(
  { response, failure, shown }: Reading,
  expected: Partial<InferenceResponse>,
): void {
  expect(failure).toBeNull();
  expect(response).toMatchObject(expected);
  expect(shown).toBe(response?.content);
}
