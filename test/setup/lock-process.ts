import { spawn } from 'node:child_process';

export interface Lock {
  release(): Promise<void>;
}

/** Starts another process that runs this SQL on a file and holds its lock until it is released. */
export async function lockProcess(path: string, sql: string): Promise<Lock> {
  const code = `
    const { DatabaseSync } =
      process.getBuiltinModule?.('node:sqlite') ?? (await import('@photostructure/sqlite'));
    const db = new DatabaseSync(${JSON.stringify(path)});
    db.exec(${JSON.stringify(`pragma busy_timeout = 5000; ${sql}`)});
    console.log('held');
    setInterval(() => db, 1000);
  `;
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`The other process ended with ${code}.`)));
  });
  return {
    async release() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
