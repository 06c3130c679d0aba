import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { askLine } from './ask-line.ts';

/** A terminal: what the user types, and when a question is shown. */
function terminal() {
  const input = new PassThrough();
  const output = new PassThrough();
  return {
    input,
    ask: (question: string) => askLine(input, output, question),
    asked: () => once(output, 'data'),
  };
}

it('a line typed before the question does not answer it', async () => {
  const { input, ask, asked } = terminal();
  input.write('a\ny\n');
  const said = ask('Delete it? ');
  expect(String(await asked())).toBe('Delete it? ');
  input.write('d\n');
  expect(await said).toBe('d');
});

it('input after another answer does not answer it', async () => {
  const { input, ask, asked } = terminal();
  const first = ask('First? ');
  await asked();
  input.write('d\na\n');
  expect(await first).toBe('d');
  const second = ask('Second? ');
  await asked();
  input.write('l\n');
  expect(await second).toBe('l');
});

it('an ended input gives no answer, before or at the question', async () => {
  const { input, ask, asked } = terminal();
  const said = ask('First? ');
  await asked();
  input.end();
  expect(await said).toBeNull();
  expect(await ask('Second? ')).toBeNull();
});
