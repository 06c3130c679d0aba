import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { removeFolder } from './folders.ts';
import { freePort, keepServer, type KeptServer } from './kept-server.ts';

export interface TestRedis extends KeptServer {
  readonly url: string;
  readonly port: number;
}

const PROGRAM = 'redis-server';
const PORT_TRIES = 3;

/** Logs once if Redis is missing. Its tests are skipped. */
export const hasRedis: boolean = spawnSync(PROGRAM, ['--version']).status === 0;
if (!hasRedis) console.log(`${PROGRAM} is not installed: skipping the tests with it.`);

/** Starts a temporary in-memory Redis on a free port. It stops when `stop` is called and when this process exits. */
export async function startRedis(...settings: readonly string[]): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'onward-redis-'));
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
    args.push(...settings);
    const answers = (): Promise<boolean> => answersFrom(port, folder);
    const server = await keepServer({ name: 'Redis', command: PROGRAM, args, folder, answers });
    if (!('output' in server)) return { url: `redis://127.0.0.1:${port}`, port, ...server };
    if (tries < PORT_TRIES) continue;
    removeFolder(folder);
    throw new Error(`Redis did not start: ${server.output}`);
  }
}

/** Whether the server with this folder answers or asks for a password. */
async function answersFrom(port: number, folder: string): Promise<boolean> {
  const client = new Redis({ port, lazyConnect: true, retryStrategy: null, connectTimeout: 1000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const [, found] = (await client.config('GET', 'dir')) as string[];
    return found === folder;
  } catch (error) {
    return String(error).includes('NOAUTH');
  } finally {
    client.disconnect();
  }
}
