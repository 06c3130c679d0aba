import { invalidOption } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import type { Usage } from './usage.ts';

/** US dollars per million tokens. Reasoning is billed as output. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  /** Price of cached input. Default: the price of uncached input. */
  readonly cachedInput?: number;
  /** Price of input that is written to a prompt cache. Default: the price of uncached input. */
  readonly cacheWrite?: number;
  /** Price of input that is written to a prompt cache for an hour. Default: `cacheWrite`. */
  readonly cacheWrite1h?: number;
}

/** Prices of a model, in US dollars per million tokens. */
export interface Price extends TokenPrices {
  /** Prices of a whole call with more than `tokens` input tokens. Default: the same as of other calls. */
  readonly above?: TokenPrices & { readonly tokens: number };
}

/** Prices by model name or by its prefix; the longest match wins. */
export type PriceTable = Readonly<Record<string, Price>>;

/** A date, a build or `latest`; any other suffix makes another model. */
const version = /^(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4}|latest)$/;

/**
 * Returns a name as the tables write it: without the path of a router, the region and version of a model in Bedrock,
 * and the version of a model in Vertex.
 */
export const plainName = (model: string): string =>
  model
    .slice(model.lastIndexOf('/') + 1)
    .replace(/^(?!global)[a-z-]{2,6}\.(?=anthropic\.)/, '')
    .replace(/(^|\.)(anthropic\..+)-v\d+(?::\d+)?$/, '$1$2')
    .replace(/^(claude-.+)@\w+$/, '$1');

/**
 * Returns the entry of a model in a table by names. Matches names with dates: `gpt-5-2025-08-07` is `gpt-5`, but
 * `gpt-5-mini` and `gpt-5-2` are not.
 */
export function longestMatch<T>(
  model: string,
  table: Readonly<Record<string, T>>,
  name: string = plainName(model),
): T | null {
  const fits = Object.keys(table).filter(
    (key) =>
      key === model ||
      key === name ||
      (name.startsWith(`${key}-`) && version.test(name.slice(key.length + 1))),
  );
  const best = fits.toSorted((a, b) => b.length - a.length)[0];
  return best === undefined ? null : (table[best] ?? null);
}

/** Returns the price of a model in a table; null if no entry matches. */
export const priceIn = (table: PriceTable, model: string): Price | null =>
  longestMatch(model, table);

/**
 * Computes the cost of one call. If a provider counts reasoning outside of the output, the total shows it, and it is
 * billed too.
 */
export function costOfUsage(usage: Usage, { above, ...base }: Price): number {
  const { input, cachedInput, output, total, reasoning } = usage;
  const price = above && input > above.tokens ? above : base;
  const cached = Math.min(input, cachedInput);
  const written = Math.min(input - cached, usage.cacheWrite ?? 0);
  const hour = Math.min(written, usage.cacheWrite1h ?? 0);
  const beside = Math.min(reasoning, Math.max(0, total - input - output));
  const { cacheWrite = price.input } = price;
  const sum =
    (input - cached - written) * price.input +
    cached * (price.cachedInput ?? price.input) +
    (written - hour) * cacheWrite +
    hour * (price.cacheWrite1h ?? cacheWrite) +
    (output + beside) * price.output;
  return sum / 1_000_000;
}

/** Rejects an invalid price table; `option` is its name in the error. */
export function checkPrices(option: string, table: unknown): void {
  if (!isRecord(table)) throw invalidOption(option, table, 'prices by the name of the model');
  for (const [model, price] of Object.entries(table))
    if (!isPrice(price) || (price['above'] !== undefined && !isPrice(price['above'], 'tokens')))
      throw invalidOption(
        `${option}["${model}"]`,
        price,
        '{ input, output, cachedInput?, cacheWrite?, cacheWrite1h?, above? } in dollars per million tokens',
      );
}

const isPrice = (price: unknown, ...more: readonly string[]): price is Record<string, unknown> =>
  isRecord(price) &&
  ['input', 'output', ...more].every((key) => isAmount(price[key])) &&
  ['cachedInput', 'cacheWrite', 'cacheWrite1h'].every((key) => isAmount(price[key] ?? 0));

const isAmount = (amount: unknown): boolean =>
  typeof amount === 'number' && Number.isFinite(amount) && amount >= 0;
