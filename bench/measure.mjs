/** The middle of a list of numbers. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The value that a share of a list does not exceed: 0.95 for p95. */
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

export const round = (value, digits = 2) => Number(value.toFixed(digits));

/** A round with a bare sample slower than this share of the best shows the machine, not the code. */
const QUIET = 1.2;
const MIN_QUIET_ROUNDS = 7;

/**
 * Microseconds per unit of two ways to do the same work, measured turn by turn in one process. Each of our samples
 * stands between two bare ones, so a slow moment of the machine is seen; the ratio is the median of the rounds' ratios,
 * over the quiet rounds where there are enough. Warm-up and samples are counted in units: short runs are as warm as
 * long ones and collect garbage as often.
 */
export async function interleaved(
  ours,
  bare,
  { units, warmUnits, sampleUnits, rounds, digits = 1 },
) {
  const runs = Math.max(1, Math.ceil(sampleUnits / units));
  const sample = async (work) => {
    // no case pays for the young garbage of another; a full collection would throw away compiled code
    globalThis.gc?.({ type: 'minor' });
    const began = performance.now();
    for (let i = 0; i < runs; i++) await work();
    return ((performance.now() - began) * 1000) / (runs * units);
  };
  for (let done = 0; done < warmUnits; done += runs * units) {
    await sample(ours);
    await sample(bare);
  }
  const all = [];
  let before = await sample(bare);
  for (let i = 0; i < rounds; i++) {
    const mine = await sample(ours);
    const after = await sample(bare);
    all.push({ ours: mine, bare: (before + after) / 2, slowest: Math.max(before, after) });
    before = after;
  }
  const best = Math.min(...all.map((one) => one.bare));
  const quiet = all.filter((one) => one.slowest <= QUIET * best);
  const counted = quiet.length >= MIN_QUIET_ROUNDS ? quiet : all;
  return {
    onward_us: round(median(counted.map((one) => one.ours))),
    bare_us: round(median(counted.map((one) => one.bare)), 3),
    ratio: round(median(counted.map((one) => one.ours / one.bare)), digits),
    quiet_rounds: quiet.length,
  };
}
