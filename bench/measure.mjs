/** The middle of a list of numbers. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export const round = (value, digits = 2) => Number(value.toFixed(digits));

/**
 * Microseconds per unit of two ways to do the same work, measured turn by turn in one process: a slow moment of the
 * machine hits both, so the ratio is the median of the rounds' ratios. Warm-up and samples are counted in units:
 * short runs are as warm as long ones and collect garbage as often.
 */
export async function interleaved(ours, bare, { units, warmUnits, sampleUnits, rounds }) {
  const runs = Math.max(1, Math.ceil(sampleUnits / units));
  const sample = async (work) => {
    // nobody pays for the other's young garbage; a full collection would throw away compiled code
    globalThis.gc?.({ type: 'minor' });
    const began = performance.now();
    for (let i = 0; i < runs; i++) await work();
    return ((performance.now() - began) * 1000) / (runs * units);
  };
  for (let done = 0; done < warmUnits; done += runs * units) {
    await sample(ours);
    await sample(bare);
  }
  const times = { ours: [], bare: [] };
  for (let i = 0; i < rounds; i++) {
    const order = i % 2 === 0 ? ['ours', 'bare'] : ['bare', 'ours'];
    for (const who of order) times[who].push(await sample(who === 'ours' ? ours : bare));
  }
  return {
    onward_us: round(median(times.ours)),
    bare_us: round(median(times.bare), 3),
    ratio: round(median(times.ours.map((time, i) => time / times.bare[i])), 1),
    onward_best_us: round(Math.min(...times.ours)),
    bare_best_us: round(Math.min(...times.bare), 3),
  };
}
