/** Prints one JSON line per figure and, last, whether each bar is met. Never fails: figures are not tests. */
import { coldImport } from './cases/cold-import.mjs';
import { concurrent } from './cases/concurrent.mjs';
import { loop } from './cases/loop.mjs';
import { stateSize } from './cases/state-size.mjs';
import { stream } from './cases/stream.mjs';
import { round } from './measure.mjs';

const MAX_RATIO = 12;
const FLAT_TOLERANCE = 1.5;
const LINEAR_TOLERANCE = 1.1;
const MAX_IMPORT_MS = 30;

const cases = { loop, stream, concurrent, import: coldImport, state: stateSize };
const chosen = process.argv.slice(2);
const lines = [];

for (const [name, measure] of Object.entries(cases)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  for await (const line of measure()) {
    lines.push(line);
    console.log(JSON.stringify(line));
  }
}
console.log(JSON.stringify({ case: 'bars', ...bars() }));

function bars() {
  const results = {};
  const judge = (bar, value, limit) => {
    results[bar] = { value: round(value), limit, pass: value <= limit };
  };
  const of = (name) => lines.filter((line) => line.case === name);
  for (const { steps, ratio } of of('loop')) judge(`ratio_${steps}`, ratio, MAX_RATIO);
  const [short, long] = [of('loop')[0], of('loop').at(-1)];
  if (short) judge('flat_5000_to_10', long.onward_us / short.onward_us, FLAT_TOLERANCE);
  const [small, large] = of('state');
  if (small)
    judge(
      'full_state_linear',
      large.full_bytes_per_step / small.full_bytes_per_step,
      LINEAR_TOLERANCE,
    );
  for (const { import_ms: ms } of of('import')) judge('import_ms', ms, MAX_IMPORT_MS);
  return results;
}
