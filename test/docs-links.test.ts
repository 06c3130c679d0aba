import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, linksOf } from '../docs-tools/markdown.ts';
import { guides, references } from '../docs-tools/pages.ts';

const pages = [...guides(), ...references()];
const local = pages.flatMap(({ file, text }) =>
  linksOf(text)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [path = '', anchor = ''] = link.split('#');
      return { file, link, target: path === '' ? file : join(dirname(file), path), anchor };
    }),
);

describe('links in the docs', () => {
  it('point to existing files', () => {
    const broken = local.filter(({ target }) => !existsSync(target));
    expect(broken.map(({ file, link }) => `${file} -> ${link}`)).toEqual([]);
  });

  it('point to existing headings', () => {
    const anchors = new Map<string, readonly string[]>();
    const headings = (file: string): readonly string[] => {
      const known = anchors.get(file) ?? anchorsOf(readFileSync(file, 'utf8'));
      anchors.set(file, known);
      return known;
    };
    const broken = local.filter(
      ({ target, anchor }) =>
        anchor !== '' &&
        target.endsWith('.md') &&
        existsSync(target) &&
        !headings(target).includes(anchor),
    );
    expect(broken.map(({ file, link }) => `${file} -> ${link}`)).toEqual([]);
  });

  it('reach every page from README.md', () => {
    const reached = new Set(['README.md']);
    for (const page of reached)
      for (const { file, target } of local)
        if (file === page && existsSync(target))
          for (const seen of shownAt(target)) reached.add(seen);
    const lost = pages.map(({ file }) => file).filter((file) => !reached.has(file));
    expect(lost, 'link them from README.md or from a page it leads to').toEqual([]);
  });
});

/** For a folder, a code host shows its README or a list of its files. */
function shownAt(target: string): readonly string[] {
  if (!statSync(target).isDirectory()) return [target];
  const readme = join(target, 'README.md');
  if (existsSync(readme)) return [readme];
  return pages.map(({ file }) => file).filter((file) => file.startsWith(join(target, '/')));
}
