/**
 * How the work of every function that reads text of others grows with the text: sizes double, and the exponent is
 * fitted. 1 is linear, 2 is quadratic. Prints one JSON line per function with the text that is worst for it, and last
 * which are above the bar. `--all` prints every text; words choose functions. Never fails: figures are not tests.
 */
import { createJiti } from 'jiti';
import { growthOf } from './growth/measure.mjs';

const BAR = 1.3;
const args = process.argv.slice(2);
const isAll = args.includes('--all');
const words = args.filter((arg) => !arg.startsWith('--'));

const { cases } = await createJiti(import.meta.url).import('./growth/cases.ts');
const chosen = cases.filter(({ name }) => words.every((word) => name.includes(word)));
const byFunction = new Map();
for (const one of chosen) {
  const [name] = one.name.split(': ');
  byFunction.set(name, [...(byFunction.get(name) ?? []), one]);
}

const over = [];
for (const some of byFunction.values()) {
  const lines = [];
  for (const one of some) {
    const line = await growthOf(one, BAR);
    lines.push(line);
    if (isAll) console.log(JSON.stringify(line));
  }
  const [worst] = lines.toSorted((a, b) => b.exponent - a.exponent);
  if (!isAll) console.log(JSON.stringify({ ...worst, texts: lines.length }));
  over.push(...lines.filter(({ exponent }) => exponent > BAR).map((line) => line.case));
}
console.log(JSON.stringify({ case: 'bars', functions: byFunction.size, bar: BAR, over }));
