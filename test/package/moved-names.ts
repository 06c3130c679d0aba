import { readFileSync } from 'node:fs';
import { readPublicApi } from '../../docs-tools/public-api.ts';

const isHome = (text: string): boolean => text.startsWith('onward/');

/** A program that imports every moved name from its new subpath and reads the others as the changelog says. */
export function movedNames(): string {
  const [, table = ''] =
    /### Moved\n([^]*?)\n### /.exec(readFileSync('CHANGELOG.md', 'utf8')) ?? [];
  const rows = [...table.matchAll(/^\| `onward` +\| (.+?) +\| `(.+?)` +\|$/gm)]
    .map(([, before = '', now = '']) => ({
      names: before.match(/\w+/g) ?? [],
      now: now.replaceAll('\\', ''),
    }))
    .filter(({ now }) => isHome(now) || /[<[]|=>/.test(now));
  const types = rows.filter(({ now }) => !isHome(now));
  const core = readPublicApi().subpaths.find(({ specifier }) => specifier === 'onward');
  const used = core?.names.filter(({ name }) =>
    types.some(({ now }) => new RegExp(`\\b${name}\\b`).test(now)),
  );
  return [
    `import type { ${used?.map(({ name }) => name).join(', ')} } from 'onward';`,
    ...rows
      .filter(({ now }) => isHome(now))
      .map(({ names, now }) => `export type { ${names.join(', ')} } from '${now}';`),
    'type Known<T> = 0 extends 1 & T ? "any" : [T] extends [never] ? "never" : "known";',
    ...types.map(({ names: [name], now }) => `export const ${name}: Known<${now}> = 'known';`),
  ].join('\n');
}
