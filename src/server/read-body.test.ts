import { expect, it } from 'vitest';
import { readBody } from './read-body.ts';

const headers = { 'content-type': 'application/json' };
const request = (characters: number): Request =>
  new Request('http://x/', {
    method: 'POST',
    headers,
    body: JSON.stringify({ text: 'a'.repeat(characters) }),
  });

it('processes concurrent large bodies in separate turns of the event loop', async () => {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const turns = await Promise.all(
    ['ann', 'ann', 'ann', 'bob'].map(async (owner) => {
      await readBody(request(100_000), 1_000_000, owner);
      return turn;
    }),
  );
  isOver = true;
  expect(new Set(turns).size).toBe(4);
});
