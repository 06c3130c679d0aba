import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

/** Milliseconds to read input that already waits at the terminal. */
const TYPED_MS = 30;

/** Reads the line that a user types after the question appears. Null at the end of the input, and with Ctrl-C. */
export async function askLine(
  input: Readable,
  output: Writable,
  question: string,
): Promise<string | null> {
  await dropTyped(input);
  // the reader below would not notice the end
  if (input.readableEnded) return null;
  const lines = createInterface({ input, output });
  try {
    return await new Promise<string | null>((resolve, reject) => {
      lines.once('close', () => resolve(null));
      lines.once('SIGINT', () => resolve(null));
      lines.question(question).then(resolve, reject);
    });
  } finally {
    lines.close();
  }
}

/** Drops a line that was typed before the question: it is not an answer and could approve anything. */
async function dropTyped(input: Readable): Promise<void> {
  const drop = (): void => {};
  input.on('data', drop).resume();
  await wait(TYPED_MS);
  input.off('data', drop).pause();
}
