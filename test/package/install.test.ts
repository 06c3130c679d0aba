import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { npm, packed } from './packed.ts';
import { removeFolder } from '../setup/folders.ts';
import { toolPath } from '../setup/test-tools.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const folder = mkdtempSync(join(tmpdir(), 'onward-install-'));
const project = join(folder, 'project');
const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

beforeAll(async () => {
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}');
  // the dependencies are packed too, so that npm needs no network
  const needed = Object.keys(dependencies).map((name) => resolve('node_modules', name));
  const tarballs: string[] = [];
  for (const source of ['.', ...needed]) tarballs.push((await packed(source, folder)).tarball);
  const quiet = ['--no-audit', '--no-fund', '--cache', join(folder, 'cache')];
  await npm(['install', ...tarballs, ...quiet], project);
});
afterAll(() => {
  removeFolder(folder);
});

/** Links packages of this repository into the project. */
const add = (...names: string[]): void => {
  for (const name of names) {
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    if (!existsSync(link)) symlinkSync(resolve('node_modules', name), link, 'junction');
  }
};

interface Ran {
  readonly code: number;
  readonly said: string;
}

interface Failed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const ran = (file: string, ...argv: string[]): Promise<Ran> =>
  promisify(execFile)(process.execPath, [file, ...argv], { cwd: project }).then(
    ({ stdout, stderr }) => ({ code: 0, said: `${stdout}${stderr}`.trim() }),
    (error: unknown) => {
      const { code, stdout, stderr } = error as Failed;
      return { code, said: `${stdout}${stderr}`.trim() };
    },
  );

const compilers = [
  ['5.6', toolPath('typescript-5.6/package.json')],
  ['7', resolve('node_modules/typescript/package.json')],
] as const;
const nodenext = { module: 'nodenext' };
const bundler = { module: 'esnext', moduleResolution: 'bundler' };

interface Given {
  readonly lib: readonly string[];
  readonly types: readonly string[];
  readonly jsx?: 'react-jsx';
}

/** Returns the compiler errors, with the types of all packages checked. */
async function complaints(
  compiler: string,
  program: string,
  module: object,
  given: Given,
): Promise<string> {
  cpSync(join('test/package/programs', program), join(project, program));
  const compilerOptions = { ...given, ...module, target: 'es2022', strict: true };
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { ...compilerOptions, skipLibCheck: false, outDir: 'out', rootDir: '.' },
      files: [program],
    }),
  );
  return (await ran(join(dirname(compiler), 'bin', 'tsc'))).said;
}

describe('installed in an empty project', () => {
  it('adds its dependencies and nothing else', () => {
    const names = readdirSync(join(project, 'node_modules')).filter((name) => name[0] !== '.');
    expect(names.toSorted()).toEqual([...Object.keys(dependencies), 'onward'].toSorted());
  });

  it.each(compilers)('TypeScript %s has that version', (name, path) => {
    const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version: string };
    expect(version.startsWith(`${name}.`)).toBe(true);
  });

  it('the command prints its version and its help', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect((await npm(['exec', '--', 'onward', '--version'], project)).trim()).toBe(version);
    const command = join(project, 'node_modules', 'onward', 'dist', 'cli', 'main.js');
    expect(await ran(command, '--help')).toMatchObject({
      code: 0,
      said: expect.stringMatching(/^Usage: onward [^]* dev [^]* explain /) as string,
    });
  });

  describe.each(compilers)('TypeScript %s', (_version, compiler) => {
    it('the types work in a page without Node', async () => {
      const given: Given = { lib: ['es2022', 'dom', 'dom.iterable'], types: [] };
      expect(await complaints(compiler, 'browser.ts', nodenext, given)).toBe('');
    });

    it('the types work in Node without DOM and peer packages', async () => {
      add('@types/node');
      const given: Given = { lib: ['es2022'], types: ['node'] };
      expect(await complaints(compiler, 'node.ts', nodenext, given)).toBe('');
      expect(await ran('out/node.js')).toEqual({
        code: 0,
        said: `completed 3 4\nSums 200\n${Array(10).fill('function').join()}`,
      });
    });

    it('the subpaths with peer packages have types', async () => {
      add('openai', 'react', '@types/react');
      const lib = ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'];
      const given: Given = { lib, types: [], jsx: 'react-jsx' };
      expect(await complaints(compiler, 'peers.tsx', bundler, given)).toBe('');
      expect(await ran('out/peers.js')).toEqual({ code: 0, said: 'function function' });
    });
  });
});
