import { format } from 'node:util';
import { vi } from 'vitest';
import { withModelScript } from './model-script.ts';

/**
 * Runs a module, with a scripted model if it has a script, and returns its output with times replaced, which no sample
 * can predict.
 */
export async function printedBy(file: string, model: string | null = null): Promise<string> {
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => {
    lines.push(format(...values));
  });
  try {
    const run = (): Promise<unknown> => import(/* @vite-ignore */ file);
    await (model === null ? run() : withModelScript(model, run));
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
