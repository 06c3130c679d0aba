import { format } from 'node:util';
import { vi } from 'vitest';

/** Runs a module and returns what it printed; the wall clock is the one number that no sample can promise. */
export async function printedBy(file: string): Promise<string> {
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => {
    lines.push(format(...values));
  });
  try {
    await import(/* @vite-ignore */ file);
  } finally {
    log.mockRestore();
  }
  return steady(lines.join('\n'));
}

export const steady = (text: string): string =>
  text
    .replaceAll(/\d+(\.\d+)? of 300 seconds/g, '0 of 300 seconds')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trim();
