import { readFileSync } from 'node:fs';

const folder = 'src/console/styles';

/** Every stylesheet of the console, in the order in which it loads them. */
export const consoleStyles: readonly string[] = [
  ...readFileSync(`${folder}/console.css`, 'utf8').matchAll(/'\.\/([\w-]+\.css)'/g),
].map(([, file = '']) => `${folder}/${file}`);
