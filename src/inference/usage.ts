/** Tokens as the provider reported them. `total` counts billed tokens, so `input` includes cached input. */
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
});
