import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { removeFolder } from '../setup/folders.ts';

/** The built `onward dev` in a child process with its own folder. */
export interface DevProcess {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly folder: string;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Sends SIGINT and resolves to the exit code. */
  stop(): Promise<number | null>;
}

export interface DevOptions {
  /** Folder of an earlier process. */
  readonly folder?: string;
  readonly port?: number;
  /** Text of `onward.config.mjs`. Default: the demo agent. */
  readonly config?: string;
}

const cli = resolve('dist/cli/main.js');

/** Creates a folder inside the project, so that a config can import this package. */
function devFolder(): string {
  mkdirSync('build', { recursive: true });
  return mkdtempSync(resolve('build/e2e-'));
}

export async function startDev(options: DevOptions = {}): Promise<DevProcess> {
  const folder = options.folder ?? devFolder();
  if (options.config !== undefined)
    writeFileSync(join(folder, 'onward.config.mjs'), options.config);
  const env = { ...process.env, OPENAI_API_KEY: '', ONWARD_TOKEN: '', NO_COLOR: '1' };
  const args = [cli, '--json', 'dev', '--port', String(options.port ?? 0)];
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: 'pipe' });
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  const exited = once(child, 'exit');
  const started = await Promise.race([
    firstLine(child),
    exited.then(() => {
      throw new Error(`onward dev ended before it started: ${said}`);
    }),
  ]);
  const { url, token, port } = JSON.parse(started) as { url: string; token: string; port: number };
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    const [code] = (await exited) as [number | null];
    return code;
  };
  return {
    url,
    port,
    token,
    folder,
    async kill() {
      await end('SIGKILL');
    },
    stop: () => (child.exitCode === null ? end('SIGINT') : Promise.resolve(child.exitCode)),
  };
}

export async function discard(dev: DevProcess | undefined): Promise<void> {
  await dev?.kill().catch(() => {});
  if (dev) removeFolder(dev.folder);
}

const firstLine = async ({ stdout }: ChildProcess): Promise<string> => {
  if (!stdout) throw new Error('no output');
  for await (const line of createInterface({ input: stdout })) return line;
  throw new Error('onward dev printed nothing');
};

/** Calls the API like the console. */
export async function api(
  { url, token }: DevProcess,
  path: string,
  init: { readonly method?: string; readonly body?: unknown; readonly token?: string } = {},
): Promise<Response> {
  return fetch(`${url}/api${path}`, {
    method: init.method ?? 'GET',
    headers: {
      authorization: `Bearer ${init.token ?? token}`,
      ...(init.body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(init.body !== undefined && { body: JSON.stringify(init.body) }),
  });
}
