import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { printedBy, steady } from './setup/samples.ts';

/** Every `ts` block of the docs is a module, and the `text` block behind it is what it prints. */
const pages = readdirSync('docs').filter((file) => file.endsWith('.md'));
const folder = resolve(`build/docs-samples-${process.pid}`);

const samples = pages.flatMap((page) =>
  [
    ...readFileSync(`docs/${page}`, 'utf8').matchAll(
      /```ts\n([\s\S]*?)```(?:\s*```text\n([\s\S]*?)```)?/g,
    ),
  ].map(([, code = '', prints], i) => ({
    name: `${page.replace('.md', '')}-${i + 1}`,
    code,
    prints: prints === undefined ? null : steady(prints),
  })),
);

mkdirSync(folder, { recursive: true });
for (const { name, code } of samples) writeFileSync(`${folder}/${name}.ts`, code);
writeFileSync(
  `${folder}/tsconfig.json`,
  JSON.stringify({
    extends: '../../tsconfig.json',
    compilerOptions: { isolatedDeclarations: false, declaration: false },
    include: ['.'],
  }),
);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('docs', () => {
  it('have samples', () => {
    expect(samples.length).toBeGreaterThan(0);
  });

  it.each(samples)('$name prints what the page promises', async ({ name, prints }) => {
    expect(prints, 'a ts block is followed by a text block').not.toBeNull();
    expect(await printedBy(`${folder}/${name}.ts`)).toBe(prints);
  });

  it('all samples type-check', () => {
    const tsc = resolve('node_modules/typescript/bin/tsc');
    const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', folder], {
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
    expect(status).toBe(0);
  }, 60_000);

  it('links inside the docs lead somewhere', () => {
    const broken = [
      ...pages.map((page) => `docs/${page}`),
      'README.md',
      'ARCHITECTURE.md',
      'CONTRIBUTING.md',
    ].flatMap((file) => {
      const text = readFileSync(file, 'utf8').replaceAll(/```[\s\S]*?```/g, '');
      const base = file.startsWith('docs/') ? 'docs' : '.';
      return [...text.matchAll(/\]\(([^)#]+)(#[^)]*)?\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !/^https?:/.test(target))
        .filter((target) => {
          try {
            readFileSync(resolve(base, target));
            return false;
          } catch (error) {
            return (error as NodeJS.ErrnoException).code !== 'EISDIR';
          }
        })
        .map((target) => `${file} -> ${target}`);
    });
    expect(broken).toEqual([]);
  });
});
