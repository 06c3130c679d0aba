import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** One line of the terminal, with its time since the beginning in milliseconds. */
export interface TerminalLine {
  readonly atMs: number;
  readonly kind: 'command' | 'output' | 'error';
  readonly text: string;
}

const cli = resolve('dist/cli/main.js');

/**
 * Starts a run with the built command line, kills its process with SIGKILL in the middle of the second tool, lets another
 * process recover the session, and returns what the terminal shows. `folder` is made, and removed at the end.
 */
export async function recordKill(folder: string): Promise<readonly TerminalLine[]> {
  mkdirSync(folder, { recursive: true });
  copyFileSync('docs-tools/kill-recording/onward.config.mjs', join(folder, 'onward.config.mjs'));
  const began = Date.now();
  const lines: TerminalLine[] = [];
  const show = (kind: TerminalLine['kind'], text: string): void => {
    for (const line of text.split('\n'))
      if (line.trim() !== '') lines.push({ atMs: Date.now() - began, kind, text: line.trimEnd() });
  };
  const start = (...args: readonly string[]): ChildProcess => {
    show(
      'command',
      `npx onward ${args.map((arg) => (arg.includes(' ') ? `"${arg}"` : arg)).join(' ')}`,
    );
    const child = spawn(process.execPath, [cli, ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => show('output', text));
    return child;
  };
  const effects = (): string => {
    const file = join(folder, 'effects.log');
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };
  const showEffects = (): void => {
    show('command', 'cat effects.log');
    show('output', effects());
  };
  try {
    const victim = start('run', 'Ship order 1042');
    const gone = once(victim, 'exit');
    const hasBegun = (): boolean =>
      effects().includes('started') && lines.some(({ kind }) => kind === 'output');
    while (!hasBegun() && victim.exitCode === null) await sleep(5);
    show('command', `kill -9 ${String(victim.pid)}`);
    victim.kill('SIGKILL');
    await gone;
    show(
      'error',
      victim.signalCode === 'SIGKILL' ? 'Killed' : `Ended by ${String(victim.signalCode)}`,
    );
    showEffects();
    const recovery = start('recover');
    await once(recovery, 'close');
    showEffects();
    const session = /\b([0-9a-f]{8}) completed/.exec(lines.map(({ text }) => text).join('\n'))?.[1];
    const explain = start('explain', session ?? '');
    await once(explain, 'close');
    return lines;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
