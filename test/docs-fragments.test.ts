import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { channelOf } from 'onward/broadcasting';
import { parseSync } from 'rolldown/utils';
import { afterAll, describe, expect, it } from 'vitest';
import { fencesOf } from '../docs-tools/markdown.ts';
import { guides } from '../docs-tools/pages.ts';
import { removeFolder } from './setup/folders.ts';

/**
 * Code blocks that cannot run on their own: components, routes, config lines. They are compiled against these
 * declarations. A new language needs a rule below.
 */
const assumed = `
  // the reader's server
  declare const runtime: import('onward').SessionRuntime;
  declare const app: import('hono').Hono;
  declare const server: import('node:http').Server;
  declare const userOf: (request: Request) => string;
  declare const owner: (request: Request) => string;
  declare const auth: (request: Request) => Promise<Response>;
  declare const live: import('onward/broadcasting').SseEndpoint;
  declare const log: { warn(error: unknown): void };
  declare const Deno: { serve(handler: (request: Request) => Response | Promise<Response>): void };
  declare namespace NodeJS {
    interface ProcessEnv { REVERB_APP_ID: string; REVERB_APP_KEY: string; REVERB_APP_SECRET: string }
  }
  declare const appId: string, key: string, secret: string, host: string;

  // the reader's page
  declare const url: string, sessionId: string, wsHost: string, wsPort: number;
  declare const token: string & (() => string);
  declare const post: (url: string, body?: unknown) => Promise<void>;
  declare const draw: (state: import('onward/ui').UiState, connection: import('onward/ui').Connection) => void;
  declare const actions: import('onward/ui').AgentSessionActions;
  declare const show: (envelope: import('onward/broadcasting').Envelope) => void;
  declare const refill: () => Promise<void>;
  declare const message: import('ai').UIMessage<
    import('onward/broadcasting/use-chat').OnwardMetadata,
    import('onward/broadcasting/use-chat').OnwardDataParts
  >;

  // imported by an earlier block of the same page
  declare const useAgentSession: typeof import('onward/react').useAgentSession;
  declare const sseSource: typeof import('onward/ui').sseSource;
  declare const broadcastSessions: typeof import('onward/broadcasting').broadcastSessions;
  declare const pusherBroadcaster: typeof import('onward/broadcasting/pusher').pusherBroadcaster;

  declare module '*.css';
`;

/** Whether the `js` blocks of a page show other frameworks, which are not installed here. */
const isOfOthers = (file: string): boolean => file.startsWith('docs/migrating-');

interface Block {
  readonly place: string;
  readonly file: string;
  readonly language: string;
  readonly code: string;
}

const blocks: readonly Block[] = guides().flatMap(({ file, text }) =>
  fencesOf(text).map(({ language, code, line }) => ({
    place: `${file}:${line}`,
    file,
    language,
    code,
  })),
);
const written = (...languages: readonly string[]): readonly Block[] =>
  blocks.filter(({ language }) => languages.includes(language));
const ours = written('js', 'jsx', 'tsx').filter(
  ({ file, language }) => language === 'tsx' || !isOfOthers(file),
);

const folder = resolve(`build/docs-fragments-${process.pid}`);
afterAll(() => removeFolder(folder));

/** Compiles the blocks and returns the compiler errors with their position on the page. */
function complaints(): readonly string[] {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/assumed.d.ts`, assumed);
  const places = new Map<string, string>();
  for (const [i, { place, language, code }] of ours.entries()) {
    places.set(`block-${i}`, place);
    writeFileSync(`${folder}/block-${i}.${language}`, `${code}\nexport {};\n`);
  }
  writeFileSync(
    `${folder}/tsconfig.json`,
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions: {
        // the usual settings of a browser bundler
        module: 'preserve',
        moduleResolution: 'bundler',
        allowJs: true,
        checkJs: true,
        noImplicitAny: false,
        noUnusedLocals: false,
        isolatedDeclarations: false,
        declaration: false,
      },
      include: ['.'],
    }),
  );
  const tsc = resolve('node_modules/typescript/bin/tsc');
  const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
    encoding: 'utf8',
  });
  expect(status === 0).toBe(stdout === '');
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) =>
      line.replace(
        /^.*?\b(block-\d+)\.\w+\((\d+),\d+\)/,
        (_all, name: string, row: string) => `${places.get(name)}, line ${row} of the block`,
      ),
    );
}

describe('code fragments in the docs', () => {
  it('every code block has a language with a rule', () => {
    // docs.test.ts runs ts, docs-commands.test.ts checks sh, text is output or a diagram
    const known = new Set('ts text sh js jsx tsx json css php'.split(' '));
    const strange = blocks.filter(({ language }) => !known.has(language));
    expect(strange.map(({ place, language }) => `${place} is "${language}"`)).toEqual([]);
  });

  it('js and tsx compile against the public API', () => {
    expect(ours.length).toBeGreaterThan(10);
    expect(complaints()).toEqual([]);
  }, 60_000);

  it('js of other frameworks parses and does not import onward', () => {
    const others = written('js').filter(({ file }) => isOfOthers(file));
    const wrong = others.filter(
      ({ code }) => parseSync('block.js', code).errors.length > 0 || /'onward/.test(code),
    );
    expect(wrong.map(({ place }) => place)).toEqual([]);
  });

  it.each(written('json'))('$place is JSON', ({ code }) => {
    expect(() => JSON.parse(code)).not.toThrow();
  });

  it.each(written('css'))(
    '$place names only classes and properties of the stylesheet',
    ({ code }) => {
      const sheet = readFileSync('src/react/styles.css', 'utf8');
      const names = code.match(/--[\w-]+|\.[a-z][\w-]+/g) ?? [];
      expect(names.filter((name) => !sheet.includes(name))).toEqual([]);
      expect(code.split('{').length).toBe(code.split('}').length);
    },
  );

  it.each(written('php'))('$place names the broadcast channel', ({ code }) => {
    const [, channel] = /Broadcast::channel\('([^']+)'/.exec(code) ?? [];
    expect(channel).toBe(channelOf('{sessionId}'));
  });
});
