import { round } from '../measure.mjs';

const LEAST = 8_192;
const MOST = 262_144;
/** A sample that takes longer than this says enough. */
const LONG_MS = 150;
/** What is shorter than this is the clock and the machine. */
const SHORT_MS = 0.3;
const TRIES = 3;
/** How often a bad figure is measured again: a pause of the machine looks like growth too. */
const CHECKS = 3;

/** What this process worked, in milliseconds: time that others had the processor does not count. */
function worked() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The best of a few, which is the one that garbage and others disturbed least. */
async function timeOf({ run }, input) {
  let best = Infinity;
  for (let i = 0; i < TRIES; i++) {
    globalThis.gc?.({ type: 'minor' });
    const began = worked();
    await run(input);
    best = Math.min(best, worked() - began);
  }
  return best;
}

/** Times at doubled sizes, and the slope of a line through their logarithms; 0 for what is too quick to measure. */
async function measured(one) {
  await one.run(one.input(LEAST));
  const times = [];
  for (let size = LEAST; size <= MOST; size *= 2) {
    const ms = await timeOf(one, one.input(size));
    times.push({ size, ms });
    if (ms > LONG_MS) break;
  }
  const points = times
    .filter(({ ms }) => ms >= SHORT_MS)
    .map(({ size, ms }) => [Math.log2(size), Math.log2(ms)]);
  return { times, exponent: points.length < 2 ? 0 : slope(points) };
}

/** The lowest figure of a few counts: only growth that is always there is growth. */
export async function growthOf(one, bar) {
  let best = await measured(one);
  for (let i = 1; i < CHECKS && best.exponent > bar; i++) {
    const again = await measured(one);
    if (again.exponent < best.exponent) best = again;
  }
  return {
    case: one.name,
    exponent: round(best.exponent),
    ...(best.exponent > bar && { over: true }),
    ms: Object.fromEntries(best.times.map(({ size, ms }) => [size, round(ms, 3)])),
  };
}

function slope(points) {
  const mean = (place) => points.reduce((sum, point) => sum + point[place], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const top = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return top / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}
