import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { removeFolder } from '../setup/folders.ts';
import { toolPath } from '../setup/test-tools.ts';
import { movedNames } from './moved-names.ts';
import { arktypeTools } from '../types/arktype-tools.ts';
import { thirtyTools } from '../types/thirty-tools.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/** Inside the project, so that programs resolve the built package by its name. */
const folder = resolve('test/types/.out');

const compilers = [
  ['5.6', toolPath('typescript-5.6/package.json')],
  ['5.9', toolPath('typescript-5.9/package.json')],
  ['7.0', resolve('node_modules/typescript/package.json')],
] as const;

const versionOf = (manifest: string): string =>
  (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;

/** Returns the output of the compiler, empty if there are no errors. */
async function compiled(
  manifest: string,
  name: string,
  compilerOptions: object,
  files: readonly string[] | null,
  ...flags: readonly string[]
): Promise<string> {
  const config = join(folder, `${name}-${versionOf(manifest)}.json`);
  const chosen = files ? { files, include: [] } : { include: ['../*.test-d.ts'] };
  const settings = {
    extends: '../tsconfig.json',
    // linters use the sources, but this test uses the built types
    compilerOptions: { ...compilerOptions, customConditions: [] },
    ...chosen,
  };
  writeFileSync(config, JSON.stringify(settings));
  const tsc = join(dirname(manifest), 'bin', 'tsc');
  const run = promisify(execFile)(process.execPath, [tsc, '-p', config, ...flags]);
  const { stdout } = await run.catch((error: unknown) => error as { readonly stdout: string });
  return stdout.trim();
}

beforeAll(() => {
  if (!existsSync('dist/index.d.ts'))
    throw new Error('There is no dist/index.d.ts to compile against. Run: npm run build');
  removeFolder(folder);
  mkdirSync(folder);
});
afterAll(() => {
  removeFolder(folder);
});

describe.each(compilers)('TypeScript %s, against the built types', (_version, manifest) => {
  it.each([true, false])('exactOptionalPropertyTypes: %s', async (exactOptionalPropertyTypes) => {
    const name = `exact-${exactOptionalPropertyTypes}`;
    expect(await compiled(manifest, name, { exactOptionalPropertyTypes }, null)).toBe('');
  });

  it('isolatedDeclarations', async () => {
    const options = { isolatedDeclarations: true, declaration: true };
    expect(await compiled(manifest, 'isolated', options, ['../isolated.test-d.ts'])).toBe('');
  });

  it('arktype', async () => {
    const program = join(folder, 'arktype-tools.ts');
    writeFileSync(program, arktypeTools());
    const paths = { arktype: [dirname(toolPath('arktype')) + '/index.d.ts'] };
    expect(await compiled(manifest, 'arktype', { paths }, [program])).toBe('');
  });

  it('names moved out of onward are where the changelog says', async () => {
    const program = join(folder, 'moved-names.ts');
    writeFileSync(program, movedNames());
    expect(movedNames().match(/^export /gm)?.length).toBeGreaterThan(50);
    expect(await compiled(manifest, 'moved', {}, [program])).toBe('');
  });

  it('thirty tools and five agents stay cheap to compile', async () => {
    const program = join(folder, 'thirty-tools.ts');
    writeFileSync(program, thirtyTools());
    const said = await compiled(manifest, 'cost', {}, [program], '--extendedDiagnostics');
    expect(said).not.toContain('error TS');
    const count = Number(/Instantiations:\s+(\d+)/.exec(said)?.[1]);
    expect(count).toBeGreaterThan(10_000);
    expect(count).toBeLessThan(60_000);
  });
});
