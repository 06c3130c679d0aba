import { readFileSync } from 'node:fs';

const folder = 'src/console/styles';

/** All stylesheets of the console in loading order. */
export const consoleStyles: readonly string[] = [
  ...readFileSync(`${folder}/console.css`, 'utf8').matchAll(/'\.\/([\w-]+\.css)'/g),
].map(([, file = '']) => `${folder}/${file}`);
