import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median, round } from '../measure.mjs';
import { bareLoop, onwardLoop } from '../scenario.mjs';

const RUNS = 1_000;
const STEPS = 10;
const WARM_RUNS = 5_000;
const ROUNDS = 5;

/** Many runs at once, each side in processes of its own: peak memory belongs to a process. */
export function* concurrent() {
  const file = fileURLToPath(import.meta.url);
  const once = (who) =>
    JSON.parse(execFileSync(process.execPath, [file, who], { encoding: 'utf8' }));
  const all = { onward: [], bare: [] };
  for (let i = 0; i < ROUNDS; i++) for (const who of ['onward', 'bare']) all[who].push(once(who));
  const middle = (who, field) => median(all[who].map((one) => one[field]));
  yield {
    case: 'concurrent',
    runs: RUNS,
    steps: STEPS,
    onward_ms: round(middle('onward', 'ms'), 1),
    bare_ms: round(middle('bare', 'ms'), 1),
    ratio: round(middle('onward', 'ms') / middle('bare', 'ms'), 1),
    onward_peak_rss_mb: round(middle('onward', 'peakRssMb'), 1),
    bare_peak_rss_mb: round(middle('bare', 'peakRssMb'), 1),
    onward_rss_before_mb: round(middle('onward', 'rssBeforeMb'), 1),
  };
}

async function measure(who) {
  const run = who === 'onward' ? onwardLoop(STEPS) : bareLoop(STEPS);
  for (let i = 0; i < WARM_RUNS; i++) await run();
  const rssBeforeMb = process.memoryUsage.rss() / 2 ** 20;
  const began = performance.now();
  await Promise.all(Array.from({ length: RUNS }, run));
  const ms = performance.now() - began;
  const peakRssMb = process.resourceUsage().maxRSS / 1024;
  console.log(JSON.stringify({ ms, rssBeforeMb, peakRssMb }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await measure(process.argv[2]);
