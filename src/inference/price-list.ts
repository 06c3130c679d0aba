import { priceRows, type Amounts } from './list-prices.ts';
import { priceIn, type Price, type PriceTable, type TokenPrices } from './prices.ts';

const tokenPrices = ([
  input,
  output,
  cachedInput,
  cacheWrite,
  cacheWrite1h,
]: Amounts): TokenPrices => ({
  input,
  output,
  ...(cachedInput !== undefined && { cachedInput }),
  ...(cacheWrite !== undefined && { cacheWrite }),
  ...(cacheWrite1h !== undefined && { cacheWrite1h }),
});

/**
 * List prices of common models, from the source that `listPriceSource` names. Your own table takes precedence; other
 * models have no known price.
 */
export const listPrices: PriceTable = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ priceRows.flatMap(([names, amounts, tokens, above]) => {
    const price: Price = {
      ...tokenPrices(amounts),
      ...(tokens !== undefined && above && { above: { tokens, ...tokenPrices(above) } }),
    };
    return names.split(' ').map((name): [string, Price] => [name, price]);
  }),
);

/** Returns the price of a model, by your own table first; null if no entry matches, and then there is no cost. */
export const priceOf = (model: string | undefined, own: PriceTable = {}): Price | null =>
  model === undefined ? null : (priceIn(own, model) ?? priceIn(listPrices, model));
