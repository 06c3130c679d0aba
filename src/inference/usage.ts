/** Tokens as the provider reported them. `total` counts what was billed, so cached input is part of `input`. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly total: number;
  readonly cachedInput: number;
  readonly reasoning: number;
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
      };

/** Reads a report leniently: what is missing is 0, and `total` is input plus output where the wire has none. */
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
  };
}

const count = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;

/** A reported price; null where there is none that could be added up. */
export const costOf = (cost: unknown): number | null =>
  typeof cost === 'number' && Number.isFinite(cost) && cost >= 0 ? cost : null;

/** The known part of a cost: null only as long as no step had a price. */
export const addCost = (total: number | null, step: number | null): number | null =>
  step === null ? total || null : step === 0 ? total : (total ?? 0) + step;

export const minusUsage = (a: Usage, b: Usage): Usage => ({
  input: a.input - b.input,
  output: a.output - b.output,
  total: a.total - b.total,
  cachedInput: a.cachedInput - b.cachedInput,
  reasoning: a.reasoning - b.reasoning,
});
