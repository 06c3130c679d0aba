import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';

export interface Lock {
  release(): Promise<void>;
}

/** Another process that runs this SQL on a file, then stays where it is until it is killed. */
export async function lockedBy(path: string, sql: string): Promise<Lock> {
  const code = `
    const { DatabaseSync } =
      process.getBuiltinModule?.('node:sqlite') ?? (await import('@photostructure/sqlite'));
    const db = new DatabaseSync(${JSON.stringify(path)});
    db.exec(${JSON.stringify(sql)});
    console.log('held');
    setInterval(() => db, 1000);
  `;
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const release = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(release);
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`The other process ended with ${code}.`)));
  });
  return { release };
}

/** The share of the time in which the event loop stood still for more than 50 ms at a time. */
export function watchLoop(): { readonly blockedShare: number; stop(): void } {
  const began = performance.now();
  let last = began;
  let blocked = 0;
  const look = (): void => {
    const now = performance.now();
    if (now - last > 50) blocked += now - last;
    last = now;
  };
  const timer = setInterval(look, 5);
  onTestFinished(() => clearInterval(timer));
  return {
    get blockedShare() {
      look();
      return blocked / (performance.now() - began);
    },
    stop: () => clearInterval(timer),
  };
}
