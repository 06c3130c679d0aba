import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Page {
  readonly file: string;
  readonly text: string;
}

const read = (file: string): Page => ({ file, text: readFileSync(file, 'utf8') });

const markdownIn = (folder: string): readonly Page[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
    .toSorted()
    .map((file) => read(join(folder, file)));

/** What is written by hand for readers. */
export const guides = (): readonly Page[] => [
  ...readdirSync('.')
    .filter((file) => file.endsWith('.md'))
    .toSorted()
    .map(read),
  ...markdownIn('docs').filter(({ file }) => !file.startsWith('docs/api/')),
  ...markdownIn('examples'),
];

/** What `npm run docs` has written. */
export const references = (): readonly Page[] => markdownIn('docs/api');
