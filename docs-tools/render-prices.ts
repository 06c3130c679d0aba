import { readPrices, readWindows } from './read-prices.ts';

/** Renders the module with the list prices. */
export const renderPrices = (source: {
  readonly name: string;
  readonly version: string;
  readonly date: string;
}): string => `/** Input, output, cached input, cache write, cache write for an hour: US dollars per million tokens. */
export type Amounts = readonly [number, number, number?, number?, number?];

/** Names of a model, its prices, and those of a call with more input tokens than a number. */
export type PriceRow = readonly [string, Amounts, number?, Amounts?];

/** Where the list prices come from: a package, its version and the date of its publication. */
export const listPriceSource = {
  name: '${source.name}',
  version: '${source.version}',
  date: '${source.date}',
} as const;

/** Written by \`npm run prices\`, not by hand. The package is MIT, Copyright (c) Pydantic Services Inc. 2025 to present. */
export const priceRows: readonly PriceRow[] = [
${readPrices(source.date)
  .map((row) => `  ${JSON.stringify(row)},`)
  .join('\n')}
];
`;

/** Renders the module with the context windows, which come from the same package. */
export const renderWindows =
  (): string => `/** Tokens that a request and its answer may have together, and the names of the models. */
export type WindowRow = readonly [number, string];

/** Written by \`npm run prices\`, not by hand, from the source that \`listPriceSource\` names. */
export const windowRows: readonly WindowRow[] = [
${readWindows()
  .map((row) => `  ${JSON.stringify(row)},`)
  .join('\n')}
];
`;
