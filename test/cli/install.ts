import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { removeFolder } from '../setup/folders.ts';

/** The package installed from the current sources, and projects that use it. */
export interface Installed {
  readonly main: string;
  /** Creates a folder with these files. */
  project(files: Readonly<Record<string, string>>): string;
  remove(): void;
}

export async function install(): Promise<Installed> {
  mkdirSync('build', { recursive: true });
  // inside the repository, because dependencies are resolved from there
  const root = mkdtempSync(resolve('build', 'cli-'));
  const own = join(root, 'node_modules', 'onward');
  const bundle = await rolldown({
    input: {
      index: 'src/index.ts',
      'testing/index': 'src/testing/index.ts',
      'evals/index': 'src/evals/index.ts',
      'evals/node': 'src/evals/node.ts',
      'cli/main': 'src/cli/main.ts',
      'cli/config': 'src/cli/config.ts',
      'sessions/stores/postgres/index': 'src/sessions/stores/postgres/index.ts',
      'queues/bullmq/index': 'src/queues/bullmq/index.ts',
      'bus/postgres/index': 'src/bus/postgres/index.ts',
      'bus/redis/index': 'src/bus/redis/index.ts',
      'inference/drivers/openai': 'src/inference/drivers/openai.ts',
    },
    platform: 'node',
    external: [
      /^node:/,
      /^@modelcontextprotocol\//,
      'openai',
      'jiti',
      '@photostructure/sqlite',
      'pg',
      'bullmq',
      'ioredis',
      'pusher',
      'eventsource-parser',
      'yaml',
    ],
    logLevel: 'silent',
  });
  await bundle.write({ dir: join(own, 'dist'), format: 'esm', chunkFileNames: 'chunks/[name].js' });
  await bundle.close();
  cpSync('package.json', join(own, 'package.json'));
  let projects = 0;
  return {
    main: join(own, 'dist', 'cli', 'main.js'),
    project(files) {
      const folder = join(root, `project-${++projects}`);
      mkdirSync(folder);
      // otherwise the package name resolves to the repository
      const all = { 'package.json': '{"private":true,"type":"module"}', ...files };
      for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text);
      return folder;
    },
    remove: () => removeFolder(root),
  };
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command in a child process. */
export class Running {
  stdout = '';
  stderr = '';
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;

  constructor(
    main: string,
    cwd: string,
    argv: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ) {
    const { PATH = '' } = process.env;
    this.child = spawn(process.execPath, [main, ...argv], {
      cwd,
      env: { PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (data: Buffer) => (this.stdout += data.toString()));
    this.child.stderr?.on('data', (data: Buffer) => (this.stderr += data.toString()));
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code, signal) => {
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }
}
