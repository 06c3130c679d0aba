import { findProvider, type ModelInfo, type ModelPrice } from '@pydantic/genai-prices';
import type { Amounts, PriceRow } from '../src/inference/list-prices.ts';
import type { WindowRow } from '../src/inference/list-windows.ts';

/** Chat models to list, by provider: those that people use now. Others have no known price. */
const listed: Readonly<Record<string, RegExp>> = {
  openai: /^(?:gpt-(?:4o|4\.1|[5-9])|o[34])/,
  anthropic: /^claude-[a-z]+-\d/,
  google: /^gemini-(?:2\.5|[3-9])/,
  'x-ai': /^grok-(?:[4-9]|code)/,
  aws: /^(?:global|regional)\.anthropic\.claude-[a-z]+-\d/,
  mistral: /^(?:(?:mistral-large|mistral-small|devstral|codestral)-\d{4}|mistral-medium-latest)$/,
};

/** Models for media, whose tokens have several prices, and those that bill per search. */
const media = /audio|image|instruct|live|omni|realtime|research|search|transcribe|tts|vision/;

/** Excludes variants such as `model:free`. */
const isPlain = /^[\w.-]+\w$/;

/** Prices that are not of text tokens; the table does without them. */
const ignored = /^(?:web_searches|storage_searches)_kcount$|^(?:input|cache)_audio_(?:read_)?mtok$/;

/** A date, a build or `latest`, which the lookup of prices skips by itself. */
const version = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4}|latest)$/;

/** Reads the table that holds on a day. A model whose price depends on the time, or will change, is left out. */
export function readPrices(day: string): readonly PriceRow[] {
  return listedModels().flatMap((model): readonly PriceRow[] => {
    const prices = pricesOn(day, model);
    const row = prices && rowOf(prices);
    return row ? [[namesOf(model).join(' '), ...row]] : [];
  });
}

/** Reads the context windows of the same models, smallest first. */
export function readWindows(): readonly WindowRow[] {
  const names = new Map<number, string[]>();
  for (const model of listedModels()) {
    const { context_window: tokens } = model;
    if (tokens === undefined) continue;
    // the lookup of windows skips the marks of Bedrock
    const own = namesOf(model).map((name) => name.replace(/^(?:global\.)?anthropic\./, ''));
    const plain = own.map((name) => name.replace(version, ''));
    names.set(tokens, [...(names.get(tokens) ?? []), ...plain]);
  }
  return [...names]
    .toSorted(([a], [b]) => a - b)
    .map(([tokens, all]) => [tokens, [...new Set(all)].join(' ')]);
}

const listedModels = (): readonly ModelInfo[] =>
  Object.entries(listed).flatMap(([providerId, pattern]) => {
    const models = (findProvider({ providerId })?.models ?? []).filter(
      ({ id, deprecated }) =>
        pattern.test(id) && isPlain.test(nameOf(id)) && !media.test(id) && deprecated !== true,
    );
    if (models.length === 0) throw new Error(`The price package has no models of ${providerId}.`);
    return models;
  });

function pricesOn(day: string, { prices }: ModelInfo): ModelPrice | null {
  if (!Array.isArray(prices)) return prices;
  const isSteady = prices.every(
    ({ constraint }) =>
      constraint === undefined ||
      (constraint.type === 'start_date' && constraint.start_date <= day),
  );
  return isSteady ? (prices.at(-1)?.prices ?? null) : null;
}

const keys = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const;

function rowOf(
  prices: ModelPrice,
): readonly [Amounts, ...(readonly [number, Amounts] | [])] | null {
  const known = keys.map((key) => `${key}_mtok`);
  if (Object.keys(prices).some((key) => !known.includes(key) && !ignored.test(key))) return null;
  const given = known.map((key) => prices[key]);
  const tiers = given.flatMap((price) => (typeof price === 'object' ? [price.tiers] : []));
  const [start] = new Set(tiers.map(([tier]) => tier?.start));
  if (tiers.some((all) => all.length !== 1 || all[0]?.start !== start)) return null;
  const base = amounts(given.map((price) => (typeof price === 'object' ? price.base : price)));
  const above = amounts(
    given.map((price) => (typeof price === 'object' ? price.tiers[0]?.price : price)),
  );
  if (!base || !above) return null;
  return start === undefined ? [base] : [base, start, above];
}

function amounts(given: readonly (number | undefined)[]): Amounts | null {
  const [input, output] = given;
  if (input === undefined || output === undefined) return null;
  const last = given.findLastIndex((amount) => amount !== undefined);
  // a missing amount costs as much as input does
  return given.slice(0, last + 1).map((amount) => amount ?? input) as unknown as Amounts;
}

/** Returns an id without the marks of Bedrock, which the lookup of prices skips by itself. */
const nameOf = (id: string): string => id.replace(/^regional\./, '').replace(/-v\d+:\d+$/, '');

/** Returns the id and the aliases that are spelled like it, without dates. */
function namesOf({ id: given, match }: ModelInfo): readonly string[] {
  const id = nameOf(given);
  const names = [id, ...exactNames(match)].filter(
    (name) => name === id || (isPlain.test(name) && !media.test(name)),
  );
  const alike = [...new Set(names)].filter((name) => name.startsWith(id) || id.startsWith(name));
  return alike.filter(
    (name) => name === id || !alike.includes(name.replace(version, '')) || !version.test(name),
  );
}

const exactNames = (match: ModelInfo['match']): readonly string[] => {
  if ('equals' in match) return [match.equals];
  return 'or' in match ? match.or.flatMap(exactNames) : [];
};
