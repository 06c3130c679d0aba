import { invalidOption } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import type { Usage } from './usage.ts';

/** US dollars per million tokens. Reasoning is billed as output. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Price of cached input. Default: the price of uncached input. */
  readonly cachedInput?: number;
}

/** Prices by model name or by its prefix; the longest match wins. */
export type PriceTable = Readonly<Record<string, Price>>;

/**
 * List prices of common models, as of November 2025. Your own table takes precedence; other models have no known
 * price.
 */
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

/** Returns the price of a model; null if no entry matches, and then there is no cost. */
export function priceOf(model: string | undefined, own: PriceTable = {}): Price | null {
  if (model === undefined) return null;
  return longestMatch(model, own) ?? longestMatch(model, listPrices);
}

/** A date, a build or `latest`; any other suffix makes another model. */
const version = /^(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4}|latest)$/;

/** Matches names with dates: `gpt-5-2025-08-07` is `gpt-5`, but `gpt-5-mini` and `gpt-5-2` are not. */
function longestMatch(model: string, table: PriceTable): Price | null {
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

/**
 * Computes the cost of a call. If a provider counts reasoning outside of the output, the total shows it, and it is
 * billed too.
 */
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

/** Rejects an invalid price table; `option` is its name in the error. */
export function checkPrices(option: string, table: unknown): void {
  if (!isRecord(table)) throw invalidOption(option, table, 'prices by the name of the model');
  for (const [model, price] of Object.entries(table as PriceTable))
    for (const amount of [price?.input, price?.output, price?.cachedInput ?? 0])
      if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0)
        throw invalidOption(
          `${option}["${model}"]`,
          price,
          '{ input, output, cachedInput? } in dollars per million tokens',
        );
}
