import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

/** Long enough to read what waits at the terminal. */
const TYPED_MS = 30;

/** The line that a person types when the question is there. Null at the end of the input, and with Ctrl-C. */
export async function askLine(
  input: Readable,
  output: Writable,
  question: string,
): Promise<string | null> {
  await dropTyped(input);
  // nothing would tell the reader below that it has ended
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

/** A line typed before the question was there is no answer to it: it could agree to anything. */
async function dropTyped(input: Readable): Promise<void> {
  const drop = (): void => {};
  input.on('data', drop).resume();
  await wait(TYPED_MS);
  input.off('data', drop).pause();
}
