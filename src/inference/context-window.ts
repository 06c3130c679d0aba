import { windowRows } from './list-windows.ts';
import { longestMatch, plainName } from './prices.ts';

const windows: Readonly<Record<string, number>> = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ windowRows.flatMap(([tokens, names]) =>
    names.split(' ').map((name): [string, number] => [name, tokens]),
  ),
);

/** Tokens that a request to a model and its answer may have together; null if the model is not in the list. */
export const contextWindowOf = (model: string | undefined): number | null =>
  model === undefined
    ? null
    : longestMatch(model, windows, plainName(model).replace(/^(?:global\.)?anthropic\./, ''));
