import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fencesOf } from '../docs-tools/markdown.ts';
import { guides } from '../docs-tools/pages.ts';
import { printedBy, steady } from './setup/samples.ts';
import { removeFolder } from './setup/folders.ts';

/**
 * Each `ts` block on a page is a module. The `text` block after it is its output, and a `<!-- model: … -->` comment
 * above it scripts the model.
 */
const folder = resolve(`build/docs-samples-${process.pid}`);

const samples = guides().flatMap(({ file, text }) =>
  fencesOf(text)
    .filter(({ language }) => language === 'ts')
    .map(({ code, model, next, line }) => ({
      model,
      place: `${file}:${line}`,
      name: `${file.replace(/^docs\//, '').replaceAll(/[^a-zA-Z0-9-]+/g, '-')}-${line}`,
      code,
      prints: next?.language === 'text' ? steady(next.code) : null,
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

afterAll(() => removeFolder(folder));

describe('samples in the docs', () => {
  it('there are more than 50, also in README.md', () => {
    expect(samples.length).toBeGreaterThan(50);
    expect(samples.map(({ place }) => place.split(':')[0])).toContain('README.md');
  });

  it.each(samples)(
    '$place prints the output on the page',
    async ({ name, model, prints }) => {
      expect(prints, 'a ts block is followed by a text block').not.toBeNull();
      expect(await printedBy(`${folder}/${name}.ts`, model)).toBe(prints);
    },
    30_000,
  );

  it('all type-check', () => {
    const tsc = resolve('node_modules/typescript/bin/tsc');
    const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', folder], {
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
    expect(status).toBe(0);
  }, 60_000);
});
