import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const named = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^## (\S+) - \d\S* \(.+\)$/gm)].map(
    ([, name = '']) => name,
  );

it('lists the license of every package bundled into the built files', () => {
  const contained = readdirSync('dist', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js.map'))
    .flatMap(
      (file) => (JSON.parse(readFileSync(`dist/${file}`, 'utf8')) as { sources: string[] }).sources,
    )
    .flatMap(
      (source) => /node_modules\/((?:@[^/]+\/)?[^/]+)(?!.*node_modules)/.exec(source)?.[1] ?? [],
    );
  expect(contained).toContain('commander');
  expect(named('dist/licenses.txt')).toEqual([...new Set(contained)].toSorted());
});

it('lists the licenses of packages in the console', () => {
  expect(named('dist/console/licenses.txt')).toEqual(
    expect.arrayContaining(['markdown-it', 'react', 'react-dom', 'remend']),
  );
});
