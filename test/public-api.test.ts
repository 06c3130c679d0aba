import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as core from 'onward';
import * as broadcasting from 'onward/broadcasting';
import * as pusher from 'onward/broadcasting/pusher';
import * as useChat from 'onward/broadcasting/use-chat';
import * as aiSdkDriver from 'onward/drivers/ai-sdk';
import * as openaiDriver from 'onward/drivers/openai';
import * as config from 'onward/config';
import * as react from 'onward/react';
import * as server from 'onward/server';
import * as serverNode from 'onward/server/node';
import * as keyValue from 'onward/stores/key-value';
import * as memory from 'onward/stores/memory';
import * as postgres from 'onward/stores/postgres';
import * as sqlite from 'onward/stores/sqlite';
import * as testing from 'onward/testing';
import * as ui from 'onward/ui';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly exports: Record<string, unknown>;
};

/** Types have no value at run time, so they are read from the hand-written index. */
const typeNames = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/export (type )?\{([^}]*)\}/g)]
    .flatMap(([, all, names = '']) =>
      names
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '' && (all !== undefined || name.startsWith('type ')))
        .map((name) => name.replace(/^type /, '')),
    )
    .toSorted();

describe('public API', () => {
  it('subpaths', () => {
    expect(Object.keys(manifest.exports)).toEqual([
      '.',
      './testing',
      './drivers/openai',
      './drivers/ai-sdk',
      './stores/memory',
      './stores/sqlite',
      './stores/postgres',
      './stores/key-value',
      './broadcasting',
      './broadcasting/pusher',
      './broadcasting/use-chat',
      './ui',
      './react',
      './react/styles.css',
      './server',
      './server/node',
      './config',
      './package.json',
    ]);
  });

  it.each([
    ['onward', core, 'src/index.ts'],
    ['onward/testing', testing, 'src/testing/index.ts'],
    ['onward/drivers/openai', openaiDriver, 'src/inference/drivers/openai.ts'],
    ['onward/drivers/ai-sdk', aiSdkDriver, 'src/inference/drivers/ai-sdk.ts'],
    ['onward/stores/memory', memory, 'src/sessions/stores/memory/index.ts'],
    ['onward/stores/sqlite', sqlite, 'src/sessions/stores/sqlite/index.ts'],
    ['onward/stores/postgres', postgres, 'src/sessions/stores/postgres/index.ts'],
    ['onward/stores/key-value', keyValue, 'src/sessions/stores/key-value/index.ts'],
    ['onward/broadcasting', broadcasting, 'src/broadcasting/index.ts'],
    ['onward/broadcasting/pusher', pusher, 'src/broadcasting/pusher/index.ts'],
    ['onward/broadcasting/use-chat', useChat, 'src/broadcasting/use-chat/index.ts'],
    ['onward/ui', ui, 'src/ui/index.ts'],
    ['onward/react', react, 'src/react/index.ts'],
    ['onward/server', server, 'src/server/index.ts'],
    ['onward/server/node', serverNode, 'src/server/node.ts'],
    ['onward/config', config, 'src/cli/config.ts'],
  ])('%s exports exactly these names', (_subpath, module, file) => {
    expect({ values: Object.keys(module).toSorted(), types: typeNames(file) }).toMatchSnapshot();
  });

  it('index files list names by hand and stay small', () => {
    const text = readFileSync('src/index.ts', 'utf8');
    expect(text).not.toContain('export *');
    expect(Object.keys(core).length).toBeLessThan(100);
  });
});
