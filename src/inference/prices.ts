import { invalidOption } from '../errors/agent-error.ts';
import type { Usage } from './usage.ts';

/** US dollars for a million tokens. Reasoning is billed as output. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Default: the price of fresh input. */
  readonly cachedInput?: number;
}

/** By the model's name, or by the beginning of it: the longest that fits counts. */
export type PriceTable = Readonly<Record<string, Price>>;

/** List prices of common models, as of November 2025. Your own table wins; what is in neither has no known price. */
export const listPrices: PriceTable = {
  'gpt-5.1': { input: 1.25, cachedInput: 0.125, output: 10 },
  'gpt-5': { input: 1.25, cachedInput: 0.125, output: 10 },
  'gpt-5-mini': { input: 0.25, cachedInput: 0.025, output: 2 },
  'gpt-5-nano': { input: 0.05, cachedInput: 0.005, output: 0.4 },
  'gpt-4.1': { input: 2, cachedInput: 0.5, output: 8 },
  'gpt-4.1-mini': { input: 0.4, cachedInput: 0.1, output: 1.6 },
  'gpt-4.1-nano': { input: 0.1, cachedInput: 0.025, output: 0.4 },
  'gpt-4o': { input: 2.5, cachedInput: 1.25, output: 10 },
  'gpt-4o-mini': { input: 0.15, cachedInput: 0.075, output: 0.6 },
  o3: { input: 2, cachedInput: 0.5, output: 8 },
  'o4-mini': { input: 1.1, cachedInput: 0.275, output: 4.4 },
  'claude-opus-4-5': { input: 5, cachedInput: 0.5, output: 25 },
  'claude-opus-4-1': { input: 15, cachedInput: 1.5, output: 75 },
  'claude-sonnet-4-5': { input: 3, cachedInput: 0.3, output: 15 },
  'claude-sonnet-4': { input: 3, cachedInput: 0.3, output: 15 },
  'claude-haiku-4-5': { input: 1, cachedInput: 0.1, output: 5 },
  'gemini-2.5-pro': { input: 1.25, cachedInput: 0.125, output: 10 },
  'gemini-2.5-flash': { input: 0.3, cachedInput: 0.03, output: 2.5 },
  'gemini-2.5-flash-lite': { input: 0.1, cachedInput: 0.01, output: 0.4 },
};

/** The price of a model; null when no entry fits, and then no cost is made up. */
export function priceOf(model: string | undefined, own: PriceTable = {}): Price | null {
  if (model === undefined) return null;
  return longestFit(model, own) ?? longestFit(model, listPrices);
}

/** A date, a build or `latest`; anything else behind a name makes another model. */
const version = /^(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4}|latest)$/;

/** Names grow dates: `gpt-5-2025-08-07` is `gpt-5`, but `gpt-5-mini` is not, and neither is `gpt-5-2`. */
function longestFit(model: string, table: PriceTable): Price | null {
  const name = model.slice(model.lastIndexOf('/') + 1);
  const fits = Object.keys(table).filter(
    (key) =>
      key === model ||
      key === name ||
      (name.startsWith(`${key}-`) && version.test(name.slice(key.length + 1))),
  );
  const best = fits.toSorted((a, b) => b.length - a.length)[0];
  return best === undefined ? null : (table[best] ?? null);
}

/** What a call cost. Where a provider counts its reasoning beside the output, the total tells, and it is billed too. */
export function costOfUsage(usage: Usage, price: Price): number {
  const { input, cachedInput, output, total, reasoning } = usage;
  const cached = Math.min(input, cachedInput);
  const beside = Math.min(reasoning, Math.max(0, total - input - output));
  const sum =
    (input - cached) * price.input +
    cached * (price.cachedInput ?? price.input) +
    (output + beside) * price.output;
  return sum / 1_000_000;
}

export function checkedPrices(table: PriceTable): PriceTable {
  for (const [model, price] of Object.entries(table))
    for (const amount of [price?.input, price?.output, price?.cachedInput ?? 0])
      if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0)
        throw invalidOption(
          `prices["${model}"]`,
          price,
          '{ input, output, cachedInput? } in dollars per million tokens',
        );
  return table;
}
