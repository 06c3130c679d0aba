import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { bundleProgram } from './bundle-program.ts';

/** Bundles a test program for plain Node. It lies in the repository, where its packages are found. */
export async function bundledProgram(
  input: string,
  whenDone: (remove: () => void) => void = onTestFinished,
): Promise<string> {
  const { file, remove } = await bundleProgram(input);
  whenDone(remove);
  return file;
}

export interface Child {
  readonly process: ChildProcess;
  /** Lines printed so far. */
  readonly lines: readonly string[];
  /** Resolves with the first line that starts with this text; rejects if the child exits without one. */
  said(beginning: string): Promise<string>;
  readonly gone: Promise<readonly [code: number | null, signal: string | null]>;
}

/** Runs the program until the test ends. `env` is added to its environment, for example for a shifted wall clock. */
export function startChild(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Child {
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const gone = once(child, 'exit') as Promise<[number | null, string | null]>;
  const lines: string[] = [];
  let rest = '';
  const news = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    for (const report of news) report();
  });
  return {
    process: child,
    lines,
    gone,
    said: (beginning) =>
      new Promise((done, fail) => {
        const look = (): void => {
          const line = lines.find((text) => text.startsWith(beginning));
          if (line === undefined) return;
          news.delete(look);
          done(line);
        };
        news.add(look);
        look();
        void gone.then(() => fail(new Error(`It ended and said ${JSON.stringify(lines)}.`)));
      }),
  };
}
