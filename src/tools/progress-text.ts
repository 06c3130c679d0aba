import type { ToolProgress } from './tool-progress.ts';

/** Returns `3 of 10: Reading`, for a status line. */
export function progressText({ message, progress, total }: ToolProgress): string {
  const amount =
    progress === undefined
      ? ''
      : total === undefined
        ? String(progress)
        : `${progress} of ${total}`;
  return [amount, message].filter(Boolean).join(': ');
}
