import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import { removeFolder } from './folders.ts';
import { freePort } from './kept-server.ts';

const PROGRAM = 'pgbouncer';

/** Logs once if PgBouncer is missing. Its tests are skipped. */
export const hasPgBouncer: boolean = spawnSync(PROGRAM, ['--version']).status === 0;
if (!hasPgBouncer) console.log(`${PROGRAM} is not installed: skipping the tests through it.`);

/** Starts a real PgBouncer in front of a server until the test ends, and returns its address. */
export async function startPgBouncer(
  serverUrl: string,
  mode: 'transaction' | 'session' = 'transaction',
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'onward-pgbouncer-'));
  chmodSync(folder, 0o755);
  const { hostname, port, username, pathname } = new URL(serverUrl);
  const own = await freePort();
  const users = join(folder, 'users.txt');
  writeFileSync(users, `"${username}" ""\n`);
  const config = join(folder, 'pgbouncer.ini');
  writeFileSync(
    config,
    `[databases]
    * = host=${hostname} port=${port}
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = ${own}
    unix_socket_dir =
    auth_type = trust
    auth_file = ${users}
    pool_mode = ${mode}
    default_pool_size = ${mode === 'session' ? 20 : 2}
    `.replaceAll(/^ +/gm, ''),
  );
  const isRoot = process.getuid?.() === 0;
  const child = spawn(PROGRAM, ['-q', config], isRoot ? { uid: 65_534, gid: 65_534 } : {});
  onTestFinished(() => {
    child.kill('SIGKILL');
    removeFolder(folder);
  });
  const url = `postgres://${username}@127.0.0.1:${own}${pathname}`;
  await expect.poll(() => answers(url), { timeout: 10_000 }).toBe(true);
  return url;
}

async function answers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
