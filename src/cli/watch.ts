import type { CliContext } from './cli-context.ts';

const EVERY_MS = 2_000;
/** Moves to the upper left corner and clears the rest: other control characters of a line are escaped. */
const CLEAR = '\u001b[H\u001b[J';

/** Calls `show` once, or with `--watch` every 2 seconds until Ctrl-C. On a terminal each call replaces the one before. */
export async function showOrWatch(
  { io, isJson }: CliContext,
  isWatched: boolean,
  show: () => Promise<void>,
): Promise<number> {
  if (!isWatched) {
    await show();
    return 0;
  }
  let wake = (): void => {};
  let isOver = false;
  const endSignals = io.onSignal(() => {
    isOver = true;
    wake();
  });
  const isScreen = io.stdout.isTTY && io.env['TERM'] !== 'dumb' && !isJson;
  try {
    while (!isOver) {
      if (isScreen) io.stdout.write(CLEAR);
      await show();
      if (isOver) break; // it came meanwhile
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, EVERY_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      if (!isScreen && !isJson && !isOver) io.stdout.write('\n');
    }
    return 0;
  } finally {
    endSignals();
  }
}
