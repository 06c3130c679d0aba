import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { removeFolder } from '../setup/folders.ts';

vi.setConfig({ testTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), 'onward-import-'));
afterAll(() => {
  removeFolder(folder);
});

interface Seen {
  readonly loaded: number;
  readonly changed: readonly string[];
  readonly held: readonly string[];
}

async function importing(file: string, ...flags: string[]): Promise<Seen> {
  const watch = resolve('test/package/watch-import.mjs');
  const url = pathToFileURL(file).href;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, watch, url]);
  return JSON.parse(stdout) as Seen;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
};
const entries = Object.entries(manifest.exports).flatMap(([subpath, to]) =>
  typeof to === 'string' || !to.default.endsWith('.js')
    ? []
    : [[subpath.replace('.', 'onward'), to.default] as const],
);

describe('imports without side effects', () => {
  it('the check detects side effects', async () => {
    const file = join(folder, 'loud.mjs');
    writeFileSync(
      file,
      `globalThis.mine = 1;
       Array.prototype.mine = 1;
       const kept = JSON.stringify;
       JSON.stringify = (...all) => kept(...all);
       process.on('exit', () => {});
       setTimeout(() => {}).unref();`,
    );
    const { changed, held } = await importing(file);
    expect(changed).toEqual(
      expect.arrayContaining([
        'globalThis.mine',
        'globalThis.JSON.stringify',
        'listeners of process',
        expect.stringMatching(/\.mine$/),
      ]),
    );
    expect(held).toEqual(['Timeout', 'Timeout']);
  });

  // its purpose is an effect: it adds matchers to vitest, which has effects of its own
  const quiet = entries.filter(([subpath]) => subpath !== 'onward/evals/vitest');
  it.each(quiet)('%s', async (_subpath, file) => {
    expect(await importing(file)).toEqual({ loaded: 2, changed: [], held: [] });
  });

  it('the core loads with frozen intrinsics', async () => {
    const { loaded } = await importing('dist/index.js', '--frozen-intrinsics', '--no-warnings');
    expect(loaded).toBe(2);
  });
});
