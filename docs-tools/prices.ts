import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { renderPrices, renderWindows } from './render-prices.ts';

/** `npm run prices`: writes the list prices and context windows from the installed price package. Update the package first. */
const name = '@pydantic/genai-prices';
const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as {
  version: string;
};
const times = execFileSync('npm', ['view', name, 'time', '--json'], { encoding: 'utf8' });
const date = (JSON.parse(times) as Record<string, string>)[version]?.slice(0, 10);
if (date === undefined) throw new Error(`${name}@${version} has no date of publication.`);
const prices = 'src/inference/list-prices.ts';
const windows = 'src/inference/list-windows.ts';
writeFileSync(prices, renderPrices({ name, version, date }));
writeFileSync(windows, renderWindows());
execFileSync('npx', ['oxfmt', prices, windows], { stdio: 'inherit' });
