/**
 * Tokens as the provider reported them. `total` counts billed tokens, so `input` includes what was read from and written
 * to a prompt cache.
 */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly total: number;
  readonly cachedInput: number;
  readonly reasoning: number;
  /** Input written to a prompt cache; absent if there was none. */
  readonly cacheWrite?: number;
  /** The part of `cacheWrite` that stays for an hour, which costs more; absent if there was none. */
  readonly cacheWrite1h?: number;
}

export const zeroUsage: Usage = Object.freeze({
  input: 0,
  output: 0,
  total: 0,
  cachedInput: 0,
  reasoning: 0,
});

export const addUsage = (a: Usage, b: Usage): Usage =>
  b === zeroUsage
    ? a
    : {
        input: a.input + b.input,
        output: a.output + b.output,
        total: a.total + b.total,
        cachedInput: a.cachedInput + b.cachedInput,
        reasoning: a.reasoning + b.reasoning,
        ...(writesIn(a, b) && written(a, b, 1)),
      };

/** Reads a report leniently: missing fields are 0, and `total` defaults to input plus output. */
export function usageOf(report: Partial<Usage> | null | undefined): Usage {
  if (!report) return zeroUsage;
  const input = count(report.input);
  const output = count(report.output);
  return {
    input,
    output,
    total: report.total === undefined ? input + output : count(report.total),
    cachedInput: count(report.cachedInput),
    reasoning: count(report.reasoning),
    ...(report.cacheWrite && written(zeroUsage, report, 1)),
  };
}

/** Whether a cache was written at all, which few providers report. */
const writesIn = (a: Usage, b: Usage): boolean =>
  a.cacheWrite !== undefined || b.cacheWrite !== undefined;

/** Combines the fields of cache writes and leaves out those that are 0. */
function written(
  a: Partial<Usage>,
  b: Partial<Usage>,
  sign: 1 | -1,
): Pick<Usage, 'cacheWrite' | 'cacheWrite1h'> {
  const cacheWrite = count(a.cacheWrite) + sign * count(b.cacheWrite);
  const cacheWrite1h = count(a.cacheWrite1h) + sign * count(b.cacheWrite1h);
  return {
    ...(cacheWrite !== 0 && { cacheWrite }),
    ...(cacheWrite1h !== 0 && { cacheWrite1h }),
  };
}

const count = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;

/** Returns a reported price; null if there is no valid one. */
export const costOf = (cost: unknown): number | null =>
  typeof cost === 'number' && Number.isFinite(cost) && cost >= 0 ? cost : null;

/** Adds the known parts of a cost: null only while no step had a price. */
export const addCost = (total: number | null, step: number | null): number | null =>
  step === null ? total || null : step === 0 ? total : (total ?? 0) + step;

export const minusUsage = (a: Usage, b: Usage): Usage => ({
  input: a.input - b.input,
  output: a.output - b.output,
  total: a.total - b.total,
  cachedInput: a.cachedInput - b.cachedInput,
  reasoning: a.reasoning - b.reasoning,
  ...(writesIn(a, b) && written(a, b, -1)),
});
