import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { renderPrices } from './render-prices.ts';

/** `npm run prices`: writes the list prices from the installed price package. Update the package first. */
const name = '@pydantic/genai-prices';
const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as {
  version: string;
};
const times = execFileSync('npm', ['view', name, 'time', '--json'], { encoding: 'utf8' });
const date = (JSON.parse(times) as Record<string, string>)[version]?.slice(0, 10);
if (date === undefined) throw new Error(`${name}@${version} has no date of publication.`);
writeFileSync('src/inference/list-prices.ts', renderPrices({ name, version, date }));
execFileSync('npx', ['oxfmt', 'src/inference/list-prices.ts'], { stdio: 'inherit' });
