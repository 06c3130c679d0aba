import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The rooms, lowest first. A room imports only rooms of a line above it; rooms of one line do not know each other. */
const layers = [
  ['errors'],
  ['messages'],
  ['tools', 'continuation'],
  ['inference'],
  ['events'],
  ['agent'],
  ['serialization'],
  ['sessions'],
  ['trace', 'broadcasting'],
  ['ui'],
  ['react'],
  ['testing'],
  ['server'],
  ['console'],
  ['demo'],
  ['cli'],
];
/** All others load in a browser and on an edge runtime. */
const usesNode = (file: string): boolean => /^(?:server\/node|demo\/|cli\/)/.test(file);
/** Files beside the rooms, which everybody may use and which use no room. */
const shared = new Set([
  'append-only.ts',
  'cancellation.ts',
  'clock.ts',
  'ids.ts',
  'json-pointer.ts',
  'json.ts',
  'pacing.ts',
  'sentence.ts',
  'sha256.ts',
  'visible-text.ts',
]);

const rank = (room: string): number => layers.findIndex((rooms) => rooms.includes(room));

const sources = (readdirSync('src', { recursive: true }) as string[])
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
  .map((file) => ({ file, text: readFileSync(`src/${file}`, 'utf8') }));

const importsOf = (text: string): string[] =>
  [...text.matchAll(/from '([^']+)'|import\('([^']+)'\)/g)].map((m) => m[1] ?? m[2] ?? '');

const roomOf = (file: string): string => (file.includes('/') ? file.split('/')[0]! : '');

describe('the shape of the sources', () => {
  it('reads all rooms', () => {
    const rooms = new Set(sources.map(({ file }) => roomOf(file)).filter(Boolean));
    expect([...rooms].toSorted()).toEqual(layers.flat().toSorted());
  });

  it('rooms import downwards only', () => {
    const upward = sources
      .filter(({ file }) => file.includes('/'))
      .flatMap(({ file, text }) =>
        importsOf(text)
          .filter((path) => path.startsWith('.'))
          .map((path) => posix.join(posix.dirname(file), path))
          .filter((target) => !shared.has(target))
          .filter((target) => roomOf(target) !== roomOf(file))
          .filter((target) => rank(roomOf(target)) >= rank(roomOf(file)))
          .map((target) => `${file} -> ${target}`),
      );
    expect(upward).toEqual([]);
  });

  it('shared files use no room', () => {
    const wrong = sources
      .filter(({ file }) => shared.has(file))
      .flatMap(({ file, text }) =>
        importsOf(text)
          .filter((path) => !shared.has(posix.normalize(path)))
          .map((path) => `${file} -> ${path}`),
      );
    expect(wrong).toEqual([]);
  });

  it('each package of others is used in one place, a parser in two, and none is a Node built-in', () => {
    const used = sources.flatMap(({ file, text }) =>
      importsOf(text)
        .filter((path) => !path.startsWith('.') && !(usesNode(file) && path.startsWith('node:')))
        // two rooms are all of React
        .map((path) =>
          /^react(?:-dom)?(?:$|\/)/.test(path) ? `react in ${roomOf(file)}/` : `${path} in ${file}`,
        ),
    );
    expect([...new Set(used)].toSorted()).toEqual([
      '@hono/node-server in server/node-listener.ts',
      '@photostructure/sqlite in sessions/stores/sqlite/sqlite-database.ts',
      'commander in cli/program.ts',
      'eventsource-parser in inference/drivers/sse.ts',
      'eventsource-parser in ui/sources/sse-parser.ts',
      'jiti in cli/load-module.ts',
      'markdown-it in console/chat/markdown-tree.ts',
      'openai in inference/drivers/openai-client.ts',
      'pg in sessions/stores/postgres/postgres-pool.ts',
      'pusher in broadcasting/pusher/pusher-connection.ts',
      'react in console/',
      'react in react/',
      'remend in console/chat/markdown-tree.ts',
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

  it('files are kebab-case and fit on a few screens', () => {
    for (const { file, text } of sources) {
      expect(file).toMatch(/^[a-z0-9/-]+\.tsx?$/);
      expect(text.split('\n').length, file).toBeLessThanOrEqual(300);
    }
  });
});
