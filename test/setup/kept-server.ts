import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { removeFolder } from './folders.ts';

export interface KeptServer {
  /** Kills all its processes at once, like a crash. */
  kill(): Promise<void>;
  /** Restarts it after a kill, with the same data and port. */
  restart(): Promise<void>;
  /** Stops it and removes its folder. */
  stop(): Promise<void>;
}

export interface ServerProgram {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The working folder of the server, removed with it. */
  readonly folder: string;
  readonly user?: { readonly uid?: number; readonly gid?: number };
  /** Added to its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it answers. A server of another test may have taken the port. */
  answers(): Promise<boolean>;
}

const START_MS = 30_000;

/** Stops the server and removes its folder when stdin ends. A line on stdin can kill or start it. */
const keeper = `
  const { spawn, spawnSync } = require('node:child_process');
  const fs = require('node:fs');
  const { command, args, user, folder, log, env } = JSON.parse(process.argv[1]);
  const output = fs.openSync(log, 'w');
  let server;
  let isStopping = false;
  let starts = 0;
  const start = () => {
    const own = server = spawn(command, args, { ...user, cwd: folder, env: { ...process.env, ...env }, stdio: ['ignore', output, output] });
    own.on('exit', (code) => {
      // the next process may have started already
      if (own.isKilled) return;
      // processes of the previous server may need a moment to exit
      if (starts > 0 && starts < 50 && !isStopping) setTimeout(start, 100, ++starts);
      else gone('exit ' + code);
    });
    server.on('error', (error) => gone(String(error)));
  };
  const kill = () => {
    server.isKilled = true;
    const all = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).stdout.split('\\n');
    const children = all.map((line) => line.trim().split(/ +/)).filter(([, parent]) => Number(parent) === server.pid);
    for (const pid of [server.pid, ...children.map(([child]) => Number(child))])
      try { process.kill(pid, 'SIGKILL'); } catch {}
  };
  const stop = () => {
    isStopping = true;
    if (server.isKilled) return gone('killed');
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

/** Returns the server, or its output if it could not start. It stops when this process exits in any way. */
export async function keepServer(
  program: ServerProgram,
): Promise<KeptServer | { readonly output: string }> {
  const { name, command, args, folder, user = {}, env = {}, answers } = program;
  const job = { command, args, user, folder, log: join(folder, 'log'), env };
  // a separate process group, so that Ctrl-C reaches it only through this process
  const child = spawn(process.execPath, ['-e', keeper, JSON.stringify(job)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const output = text(child.stdout);
  const isUp = await Promise.race([answersInTime(answers), output.then(() => false)]);
  if (!isUp) {
    await stopped(child);
    return { output: (await output) || `no answer within ${START_MS} ms` };
  }
  child.unref();
  for (const stream of [child.stdin, child.stdout]) if ('unref' in stream) unref(stream);
  const order = (line: string): boolean => child.stdin.write(`${line}\n`);
  return {
    async kill() {
      order('kill');
      while (await answers()) await wait(20);
    },
    async restart() {
      order('start');
      if (!(await answersInTime(answers)))
        throw new Error(`${name} did not start again after a kill.`);
    },
    async stop() {
      await stopped(child);
      removeFolder(folder); // if the server had exited before
    },
  };
}

async function answersInTime(answers: () => Promise<boolean>): Promise<boolean> {
  const until = Date.now() + START_MS;
  do {
    if (await answers()) return true;
    await wait(20);
  } while (Date.now() < until);
  return false;
}

/** Lets a finished test process exit. */
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

export async function freePort(): Promise<number> {
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
