import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { join, posix } from 'node:path';
import { expect, it } from 'vitest';

const folder = 'dist/console';
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');

/** Files that the page names, and the modules that those import at once, without what they load on demand. */
function firstView(): ReadonlySet<string> {
  const index = read('index.html');
  const found = new Set<string>();
  const load = (file: string): void => {
    if (found.has(file)) return;
    found.add(file);
    if (!file.endsWith('.js')) return;
    for (const [, path = ''] of read(file).matchAll(
      /(?:^|[;}\s])(?:import|export)\s*(?:[^"'()]*?from\s*)?["'`](\.[^"'`]+)["'`]/g,
    ))
      load(posix.join(posix.dirname(file), path));
  };
  for (const [, path = ''] of index.matchAll(/(?:src|href)="\.\/([^"]+\.(?:js|css))"/g)) load(path);
  return found;
}

const kilobytes = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + gzipSync(read(file), { level: 9 }).length / 1000, 0);

it('loads at most 250 KB gzipped for the first view, and pages on demand', async ({ annotate }) => {
  const files = firstView();
  const size = kilobytes(files);
  await annotate(`${size.toFixed(1)} KB gzipped in ${files.size} files`);
  expect(size).toBeLessThan(250);
  // a reading that finds nothing would always be small
  expect(size).toBeGreaterThan(100);
  expect([...files].filter((file) => /-page-/.test(file))).toEqual([]);
});
