import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { packed, type Packed } from './packed.ts';
import { removeFolder } from '../setup/folders.ts';
import { toolPath } from '../setup/test-tools.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'onward-pack-'));
const unpacked = join(folder, 'package');
const MEGABYTE = 1024 * 1024;

let pack: Packed;
let paths: string[];
beforeAll(async () => {
  pack = await packed('.', folder);
  paths = pack.files.map(({ path }) => path);
  await run('tar', ['-xzf', pack.tarball, '-C', folder]);
});
afterAll(() => {
  removeFolder(folder);
});

const read = (path: string): string => readFileSync(join(unpacked, path), 'utf8');
const ending = (...endings: string[]): string[] =>
  paths.filter((path) => endings.some((end) => path.endsWith(end)));

describe('the packed package', () => {
  it('passes publint', async () => {
    const tarball = new Uint8Array(readFileSync(pack.tarball)).buffer;
    const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });

  it('has correct types for every way to import it', async () => {
    const attw = join(dirname(toolPath('@arethetypeswrong/cli/package.json')), 'dist/index.js');
    const argv = [pack.tarball, '--profile', 'esm-only', '--no-color', '--no-emoji'];
    const said = await run(
      process.execPath,
      [attw, ...argv, '--exclude-entrypoints', 'react/styles.css'],
      { maxBuffer: 16 * MEGABYTE },
    ).then(
      () => '',
      (error: unknown) => (error as { readonly stdout: string }).stdout,
    );
    expect(said).toBe('');
  });

  it('contains the README, the changelog, the command and the console', () => {
    expect(paths).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md']));
    expect(paths.filter((path) => /^dist\/console\/.*\.(?:html|js|css|svg)$/.test(path))).toEqual(
      expect.arrayContaining(['dist/console/index.html', 'dist/console/icon.svg']),
    );
    const index = read('dist/console/index.html');
    const linked = [...index.matchAll(/(?:src|href)="(?:\.?\/)?([^":]+)"/g)].map(([, to]) => to!);
    expect(linked.length).toBeGreaterThan(2);
    for (const to of linked) expect(paths).toContain(posix.join('dist/console', to));
    const { bin } = JSON.parse(read('package.json')) as { bin: Record<string, string> };
    expect(read(bin['onward']!).split('\n')[0]).toBe('#!/usr/bin/env node');
  });

  it('contains no tests or other internal files', () => {
    expect(
      paths.filter((path) => !/^(?:dist|src)\/|^(?:[A-Z]+(?:\.md)?|package\.json)$/.test(path)),
    ).toEqual([]);
    expect(
      paths.filter((path) => /\.test\.|\.tsbuildinfo$|fixture|__snapshots__/.test(path)),
    ).toEqual([]);
  });

  it('every source map has its source, in the package or inline', () => {
    const maps = ending('.map');
    expect(maps.length).toBeGreaterThan(20);
    const lost = maps.flatMap((path) => {
      const map = JSON.parse(read(path)) as {
        readonly sources: readonly string[];
        readonly sourcesContent?: readonly (string | null)[];
      };
      return map.sources
        .map((source) => posix.join(posix.dirname(path), source))
        .filter((source, at) => !paths.includes(source) && !map.sourcesContent?.[at])
        .map((source) => `${path} -> ${source}`);
    });
    expect(lost).toEqual([]);
    const unmapped = ending('.js').filter((path) => {
      const named = /\/\/# sourceMappingURL=(\S+)\s*$/.exec(read(path))?.[1];
      return named !== undefined && !paths.includes(posix.join(posix.dirname(path), named));
    });
    expect(unmapped).toEqual([]);
  });

  it('every import resolves to the package, Node, or a listed dependency', () => {
    const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
    const named = { ...manifest['dependencies'], ...manifest['peerDependencies'] };
    const modules = ending('.js').filter((path) => !/^(?:dist\/console|src)\//.test(path));
    const lost = modules.flatMap((path) =>
      [...read(path).matchAll(/^(?:import|export)\b[^;]*?from "([^"]+)";$/gm)]
        .map(([, to]) => to!)
        .filter((to) => !to.startsWith('node:'))
        .filter((to) =>
          to.startsWith('.')
            ? !paths.includes(posix.join(posix.dirname(path), to))
            : !Object.hasOwn(named, to.replace(/^((?:@[^/]+\/)?[^/]+).*$/, '$1')),
        )
        .map((to) => `${path} -> ${to}`),
    );
    expect(lost).toEqual([]);
  });

  it('stays below its size limit', () => {
    expect(pack.size).toBeLessThan(3 * MEGABYTE);
    expect(pack.unpackedSize).toBeLessThan(11 * MEGABYTE);
  });
});
