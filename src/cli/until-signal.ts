import type { CliContext } from './cli-context.ts';
import { exitCodeOfSignal } from './exit-codes.ts';

/** Resolves with the first signal; the second exits immediately. */
export function untilSignal({ io }: CliContext): Promise<void> {
  let hasEnded = false;
  return new Promise((resolve) => {
    io.onSignal((signal) => {
      if (hasEnded) io.exit(exitCodeOfSignal(signal));
      hasEnded = true;
      resolve();
    });
  });
}
