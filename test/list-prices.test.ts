import { readFileSync } from 'node:fs';
import { calcPrice } from '@pydantic/genai-prices';
import { listPrices, listPriceSource } from 'onward/drivers';
import { describe, expect, it } from 'vitest';
import { readPrices, readWindows } from '../docs-tools/read-prices.ts';
import { priceRows } from '../src/inference/list-prices.ts';
import { windowRows } from '../src/inference/list-windows.ts';
import { costOfUsage } from '../src/inference/prices.ts';
import { usageOf } from '../src/inference/usage.ts';

const { name, date, version } = listPriceSource;

describe('list prices', () => {
  it('are those of the package and version that the table names', () => {
    const manifest = readFileSync(`node_modules/${name}/package.json`, 'utf8');
    expect(JSON.parse(manifest)).toMatchObject({ name, version });
    expect(priceRows).toEqual(readPrices(date));
    expect(windowRows).toEqual(readWindows());
  });

  it('leave out models whose price depends on the time or will change', () => {
    expect(readPrices('2099-01-01').length).toBeGreaterThan(priceRows.length);
  });

  it.each([
    [1000, 'a short call'],
    [600_000, 'a long call'],
  ])('cost what the package computes, with %s tokens: %s', (input) => {
    const part = input / 10;
    for (const [model, price] of Object.entries(listPrices)) {
      const writes = price.cacheWrite === undefined ? 0 : part;
      const hour = price.cacheWrite1h === undefined ? 0 : part / 2;
      const reads = price.cachedInput === undefined ? 0 : part;
      const theirs = calcPrice(
        {
          input_tokens: input,
          output_tokens: part,
          ...(reads > 0 && { cache_read_tokens: reads }),
          ...(writes > 0 && { cache_write_tokens: writes }),
          ...(hour > 0 && { cache_write_1h_tokens: hour }),
        },
        model,
        {
          timestamp: new Date(date),
          ...(model.includes('anthropic.') && { providerId: 'aws' }),
        },
      );
      const usage = usageOf({
        input,
        output: part,
        cachedInput: reads,
        cacheWrite: writes,
        cacheWrite1h: hour,
      });
      expect(costOfUsage(usage, price), model).toBeCloseTo(theirs?.total_price ?? Number.NaN, 8);
    }
  });
});
