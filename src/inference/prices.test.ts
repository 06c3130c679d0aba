import { describe, expect, it } from 'vitest';
import { listPrices, priceOf } from './price-list.ts';
import { checkPrices, costOfUsage, type PriceTable } from './prices.ts';
import { usageOf } from './usage.ts';

describe('priceOf', () => {
  it.each<[string | undefined, string | null, string]>([
    ['gpt-5', 'gpt-5', 'by its name'],
    ['gpt-5-2025-08-07', 'gpt-5', 'with a date'],
    ['gpt-5-mini', 'gpt-5-mini', 'a longer name is another model'],
    ['gpt-5-mini-2025-08-07', 'gpt-5-mini', 'the longest match'],
    ['openai/gpt-5', 'gpt-5', 'with a vendor prefix'],
    ['claude-sonnet-4-20250514', 'claude-sonnet-4', 'with a date of Anthropic'],
    ['claude-haiku-4-5-latest', 'claude-haiku-4-5', 'latest'],
    ['gemini-2.5-flash-001', 'gemini-2.5-flash', 'with a build'],
    [
      'anthropic.claude-haiku-4-5-20251001-v1:0',
      'anthropic.claude-haiku-4-5-20251001',
      'Bedrock in a region',
    ],
    [
      'eu.anthropic.claude-haiku-4-5-20251001-v1:0',
      'anthropic.claude-haiku-4-5-20251001',
      'Bedrock across the regions of Europe',
    ],
    [
      'global.anthropic.claude-haiku-4-5-20251001-v1:0',
      'global.anthropic.claude-haiku-4-5-20251001',
      'Bedrock across all regions',
    ],
    [
      'arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-5-v1:0',
      'anthropic.claude-sonnet-5',
      'a profile of Bedrock by its address',
    ],
    ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5', 'Vertex'],
    ['gpt-5-2', null, 'a version is another model'],
    ['claude-opus-4-9', null, 'a version is another model'],
    ['gpt-5-turbo', null, 'an unknown variant'],
    ['my-model', null, 'unknown'],
    ['constructor', null, 'a property of the prototype'],
    [undefined, null, 'a driver without a model name'],
  ])('%s is %s (%s)', (model, key) => {
    expect(priceOf(model)).toBe(key === null ? null : listPrices[key]);
  });

  it('uses a custom table first, then the list prices', () => {
    const own: PriceTable = {
      'gpt-5': { input: 9, output: 9 },
      'my-model': { input: 1, output: 2 },
    };
    expect(priceOf('gpt-5', own)).toBe(own['gpt-5']);
    expect(priceOf('my-model-2026-01-01', own)).toBe(own['my-model']);
    expect(priceOf('gpt-4o', own)).toBe(listPrices['gpt-4o']);
    const exact = { 'us.anthropic.claude-sonnet-5-v1:0': { input: 1, output: 2 } };
    expect(priceOf('us.anthropic.claude-sonnet-5-v1:0', exact)).toBe(
      exact['us.anthropic.claude-sonnet-5-v1:0'],
    );
  });
});

describe('costOfUsage', () => {
  const price = { input: 2, cachedInput: 0.5, output: 10, cacheWrite: 2.5, cacheWrite1h: 4 };
  it.each<[Parameters<typeof usageOf>[0], number, string]>([
    [{ input: 1e6, output: 1e6 }, 12, 'input and output'],
    [{ input: 1e6, cachedInput: 1e6 }, 0.5, 'cached input is cheaper'],
    [{ input: 1e6, cachedInput: 4e5, output: 1e5 }, 1.2 + 0.2 + 1, 'partly cached input'],
    [{ input: 1e6, output: 1e6, reasoning: 9e5 }, 12, 'reasoning inside the output is billed once'],
    [
      { input: 1e6, output: 1e5, reasoning: 9e5, total: 2e6 },
      12,
      'reasoning outside of the output is billed too',
    ],
    [{ input: 1e6, output: 1e6, total: 9e6 }, 12, 'an unexplained total is not billed'],
    [{ input: 1e6, cachedInput: 2e6 }, 0.5, 'more cached input than input'],
    [{ input: 1e6, cacheWrite: 1e6 }, 2.5, 'D83: a cache write is dearer'],
    [
      { input: 1e6, cachedInput: 2e5, cacheWrite: 3e5, cacheWrite1h: 1e5 },
      1 + 0.1 + 0.5 + 0.4,
      'D83: partly read, written, and written for an hour',
    ],
    [
      { input: 1e6, cachedInput: 6e5, cacheWrite: 9e5, cacheWrite1h: 9e9 },
      0.3 + 1.6,
      'D83: more written input than input',
    ],
    [{}, 0, 'nothing'],
  ])('%j costs %s (%s)', (report, cost) => {
    expect(costOfUsage(usageOf(report), price)).toBeCloseTo(cost, 10);
  });

  it('cached input without a price costs as much as uncached', () => {
    const usage = usageOf({ input: 1e6, cachedInput: 1e6 });
    expect(costOfUsage(usage, { input: 2, output: 10 })).toBe(2);
  });

  it('D83: a cache write without a price costs as much as input', () => {
    const usage = usageOf({ input: 1e6, cacheWrite: 1e6, cacheWrite1h: 5e5 });
    expect(costOfUsage(usage, { input: 2, output: 10 })).toBe(2);
    expect(costOfUsage(usage, { input: 2, output: 10, cacheWrite: 3 })).toBe(3);
  });

  it('a long call has its own prices, for all its tokens', () => {
    const long = { ...price, above: { tokens: 200_000, input: 4, output: 20 } };
    expect(costOfUsage(usageOf({ input: 200_000, output: 1e5 }), long)).toBeCloseTo(0.4 + 1, 10);
    expect(costOfUsage(usageOf({ input: 200_001, output: 1e5 }), long)).toBeCloseTo(
      0.800004 + 2,
      10,
    );
  });
});

describe('a table', () => {
  it.each<[string, unknown]>([
    ['no output', { m: { input: 1 } }],
    ['a text', { m: { input: '1', output: 1 } }],
    ['below zero', { m: { input: -1, output: 1 } }],
    ['not a number', { m: { input: Number.NaN, output: 1 } }],
    [
      'a bad price for cached input',
      { m: { input: 1, output: 1, cachedInput: Number.POSITIVE_INFINITY } },
    ],
    ['no price', { m: null }],
    ['a bad price for cache writes', { m: { input: 1, output: 1, cacheWrite: '1' } }],
    ['a bad price for long calls', { m: { input: 1, output: 1, above: { input: 1, output: 1 } } }],
  ])('with %s is rejected', (_what, table) => {
    expect(() => checkPrices('prices', table)).toThrow(/^prices\["m"\].*dollars per million/);
  });

  it('may have free models', () => {
    const table = { m: { input: 0, output: 0 } };
    expect(() => checkPrices('prices', table)).not.toThrow();
  });
});
