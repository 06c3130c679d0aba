import { fork, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { onTestFinished } from 'vitest';
import { removeFolder } from './folders.ts';

export type Release = '0.1.0' | 'this release';

/** A process of a release. `call` runs a method of `release-worker.ts`. */
export interface ReleaseProcess {
  readonly call: <T = unknown>(method: string, ...args: readonly unknown[]) => Promise<T>;
  kill(): Promise<void>;
}

export interface Place {
  readonly path?: string;
  readonly connectionString?: string;
  readonly schema?: string;
}

/** Bundles the worker with the sources of a checkout. Default: the current one. */
async function bundleRelease(file: string, root = '.', minify = false): Promise<void> {
  const source = (path: string): string => resolve(root, 'src', path);
  // release 0.1.0 has one file per store
  const store = (name: string): string => {
    const file = source(`sessions/stores/${name}.ts`);
    return existsSync(file) ? file : source(`sessions/stores/${name}/index.ts`);
  };
  const bundle = await rolldown({
    input: 'test/setup/release-worker.ts',
    platform: 'node',
    external: [/^(?![./]|onward(\/|$))/],
    resolve: {
      alias: {
        'onward/stores/postgres': store('postgres'),
        'onward/stores/sqlite': store('sqlite'),
        onward: source('index.ts'),
      },
    },
    logLevel: 'silent',
  });
  await bundle.write({ file, format: 'esm', codeSplitting: false, minify });
  await bundle.close();
}

/** The programs of both releases, in a folder of the repository, where their packages are found. */
export async function releases(): Promise<{
  readonly folder: string;
  start(release: Release, place: Place): Promise<ReleaseProcess>;
  effects(): readonly (readonly [by: string, executionId: string, callId: string, tool: string])[];
  remove(): void;
}> {
  mkdirSync('build', { recursive: true });
  const folder = mkdtempSync(resolve('build', 'releases-'));
  const old = readFileSync('test/fixtures/releases/0.1.0-worker.mjs.gz');
  writeFileSync(join(folder, '0.1.0.mjs'), gunzipSync(old));
  await bundleRelease(join(folder, 'this release.mjs'));
  const effects = join(folder, 'effects');
  writeFileSync(effects, '');
  return {
    folder,
    async start(release, place) {
      const job = JSON.stringify({ name: release, effects, ...place });
      const child = fork(join(folder, `${release}.mjs`), [job], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        execArgv: ['--no-warnings'],
      });
      return connected(child);
    },
    effects: () =>
      readFileSync(effects, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as [string, string, string, string]),
    remove: () => removeFolder(folder),
  };
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly code: string | null; readonly message: string };
}

async function connected(child: ChildProcess): Promise<ReleaseProcess> {
  const waiting = new Map<number, (answer: Answer) => void>();
  let last = 0;
  child.on('message', (answer: Answer) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  const ended = new Promise<void>((done) => {
    child.once('exit', () => {
      for (const [id, answer] of waiting)
        answer({ id, error: { code: 'gone', message: 'The process has ended.' } });
      done();
    });
  });
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  const answerTo = <T>(id: number): Promise<T> =>
    new Promise((done, failed) => {
      waiting.set(id, ({ value, error }) =>
        error ? failed(Object.assign(new Error(error.message), error)) : done(value as T),
      );
    });
  await answerTo(0);
  return {
    kill,
    call(method, ...args) {
      const id = ++last;
      const answer = answerTo<never>(id);
      child.send({ id, method, args });
      return answer;
    },
  };
}
