import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The modules, lowest first. A module imports only modules from the lines above it. */
const layers = [
  ['errors'],
  ['messages'],
  ['tools', 'continuation'],
  ['inference'],
  ['events'],
  ['agent'],
  ['serialization'],
  ['bus'],
  ['sessions'],
  ['exports'],
  ['trace', 'broadcasting', 'queues', 'capabilities', 'telemetry'],
  ['replay'],
  ['mcp', 'ag-ui'],
  ['ui'],
  ['react'],
  ['testing', 'evals'],
  ['server'],
  ['console'],
  ['demo'],
  ['cli'],
];
/** Whether a file may use Node built-ins. All others load in a browser and on an edge runtime. */
const usesNode = (file: string): boolean => /^(?:(?:server|evals)\/node|demo\/|cli\/)/.test(file);
/** Files outside the modules. Every module may import them, and they import no module. */
const shared = new Set([
  'append-only.ts',
  'cancellation.ts',
  'clock.ts',
  'ids.ts',
  'json-pointer.ts',
  'json.ts',
  'on-demand.ts',
  'pacing.ts',
  'sentence.ts',
  'sha256.ts',
  'visible-text.ts',
]);

const rank = (module: string): number => layers.findIndex((row) => row.includes(module));

const sources = (readdirSync('src', { recursive: true }) as string[])
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
  .map((file) => ({ file, text: readFileSync(`src/${file}`, 'utf8') }));

const importsOf = (text: string): string[] =>
  [...text.matchAll(/from '([^']+)'|import\('([^']+)'\)/g)].map((m) => m[1] ?? m[2] ?? '');

const moduleOf = (file: string): string => (file.includes('/') ? file.split('/')[0]! : '');

describe('source layout', () => {
  it('lists every module', () => {
    const modules = new Set(sources.map(({ file }) => moduleOf(file)).filter(Boolean));
    expect([...modules].toSorted()).toEqual(layers.flat().toSorted());
  });

  it('modules import only lower modules', () => {
    const upward = sources
      .filter(({ file }) => file.includes('/'))
      .flatMap(({ file, text }) =>
        importsOf(text)
          .filter((path) => path.startsWith('.'))
          .map((path) => posix.join(posix.dirname(file), path))
          .filter((target) => !shared.has(target))
          .filter((target) => moduleOf(target) !== moduleOf(file))
          .filter((target) => rank(moduleOf(target)) >= rank(moduleOf(file)))
          .map((target) => `${file} -> ${target}`),
      );
    expect(upward).toEqual([]);
  });

  it('shared files import no module', () => {
    const wrong = sources
      .filter(({ file }) => shared.has(file))
      .flatMap(({ file, text }) =>
        importsOf(text)
          .filter((path) => !shared.has(posix.normalize(path)))
          .map((path) => `${file} -> ${path}`),
      );
    expect(wrong).toEqual([]);
  });

  it('lists every use of a third-party package, and Node built-ins stay in Node-only files', () => {
    const used = sources.flatMap(({ file, text }) =>
      importsOf(text)
        .filter((path) => !path.startsWith('.') && !(usesNode(file) && path.startsWith('node:')))
        // the console, react and telemetry modules use their package in many files
        .map((path) =>
          /^react(?:-dom)?(?:$|\/)/.test(path)
            ? `react in ${moduleOf(file)}/`
            : path === '@opentelemetry/api'
              ? `${path} in ${moduleOf(file)}/`
              : `${path} in ${file}`,
        ),
    );
    expect([...new Set(used)].toSorted()).toEqual([
      '@hono/node-server in server/node-listener.ts',
      '@modelcontextprotocol/client in mcp/open-client.ts',
      '@modelcontextprotocol/client/stdio in mcp/open-client.ts',
      '@modelcontextprotocol/server in mcp/server/mcp-server.ts',
      '@modelcontextprotocol/server in mcp/server/wire-call.ts',
      '@modelcontextprotocol/server/stdio in mcp/server/mcp-server.ts',
      '@opentelemetry/api in telemetry/',
      '@photostructure/sqlite in sessions/stores/sqlite/sqlite-database.ts',
      'bullmq in queues/bullmq/bull-link.ts',
      'commander in cli/export-commands.ts',
      'commander in cli/process-commands.ts',
      'commander in cli/program.ts',
      'commander in cli/replay-command.ts',
      'eventsource-parser in inference/drivers/sse.ts',
      'eventsource-parser in ui/sources/sse-parser.ts',
      'ioredis in bus/redis/redis-link.ts',
      'jiti in cli/load-module.ts',
      'markdown-it in console/chat/markdown-tree.ts',
      'openai in inference/drivers/openai-client.ts',
      'pg in bus/postgres/index.ts',
      'pg in sessions/stores/postgres/postgres-own-pool.ts',
      'pusher in broadcasting/pusher/pusher-connection.ts',
      'react in console/',
      'react in react/',
      'remend in console/chat/markdown-tree.ts',
      'vitest in evals/vitest/index.ts',
      'vitest-evals in evals/vitest-evals/index.ts',
      'yaml in evals/node-dataset.ts',
    ]);
  });

  it('importing the core loads no driver that needs a package', () => {
    const loaded = new Set<string>();
    const load = (file: string): void => {
      if (loaded.has(file)) return;
      loaded.add(file);
      const { text } = sources.find((source) => source.file === file)!;
      for (const [, path] of text.matchAll(/^(?:import|export) (?!type )[^;]*? from '(\.[^']+)'/gm))
        load(posix.join(posix.dirname(file), path!));
    };
    load('index.ts');
    expect(loaded.size).toBeGreaterThan(40);
    expect([...loaded].filter((file) => /drivers\/(openai|sse)\.ts$/.test(file))).toEqual([]);
  });

  it('file names are kebab-case and no file is longer than 300 lines', () => {
    for (const { file, text } of sources) {
      expect(file).toMatch(/^[a-z0-9/-]+(?:\.d)?\.tsx?$/);
      expect(text.split('\n').length, file).toBeLessThanOrEqual(300);
    }
  });
});
