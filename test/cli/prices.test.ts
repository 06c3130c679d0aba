import { createAgent } from 'onward';
import { listPriceSource } from 'onward/drivers';
import { openai } from 'onward/drivers/openai';
import { DeterministicDriver } from 'onward/testing';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cli, tempFolder, type FakeWorld } from './cli.ts';

/** A folder without a config, and one whose agent has its own prices. */
const empty = (): FakeWorld => ({ cwd: tempFolder() });
const priced = (): FakeWorld => {
  const model = openai('acme-large', { baseURL: 'http://127.0.0.1:9/v1' });
  const agent = createAgent({
    name: 'support',
    model,
    fallback: [openai('gpt-5', { apiKey: 'none' }), DeterministicDriver.create([])],
    prices: {
      'acme-large': {
        input: 7,
        output: 9,
        cacheWrite: 8,
        above: { tokens: 1_000, input: 8, output: 10 },
      },
    },
  });
  return { cwd: tempFolder(), config: { agents: [agent] } };
};

describe('onward prices', () => {
  it('lists all list prices, with their source, version and date', async () => {
    const world = empty();
    const { code, stdout, stderr } = await cli(world, 'prices');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^MODEL +INPUT +OUTPUT +CACHED +WRITE +WRITE 1H\n/);
    expect(stdout).toMatch(/^claude-sonnet-4-5 +3 +15 +0\.3 +3\.75 +6$/m);
    expect(stdout).toMatch(/^ {2}> 200,000 input +6 +22\.5 +0\.6 +7\.5 +12$/m);
    expect(stdout).toMatch(/^gpt-4o-2024-05-13 +5 +15 +- +- +-$/m);
    const { name, version, date } = listPriceSource;
    expect(stderr).toBe(
      `US dollars per million tokens. List prices: ${name} ${version}, ${date}.\n`,
    );
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(existsSync(join(world.cwd, '.onward'))).toBe(false);
  });

  it.each<[string, string[]]>([
    ['gpt-5-mini', ['gpt-5-mini']],
    ['openai:gpt-5-mini', ['gpt-5-mini']],
    ['claude-haiku', ['claude-haiku-4-5']],
    ['o4', ['o4-mini', 'o4-mini-high']],
    ['gpt-5-mini-2025-08-07', ['gpt-5-mini-2025-08-07']],
    ['anthropic/claude-haiku-4-5', ['anthropic/claude-haiku-4-5']],
    ['gpt-9', []],
    ['', []],
    ['__proto__', []],
  ])('finds %j by its name, the beginning of it, or with a date', async (word, models) => {
    const { code, last } = await cli(empty(), 'prices', word, '--json');
    expect(code).toBe(0);
    const found = last['prices'] as { model: string }[];
    expect(found.map(({ model }) => model)).toEqual(models);
    expect(last['unknown']).toEqual(models.length === 0 ? [word] : []);
  });

  it('says how to set a price that is unknown', async () => {
    const { code, stdout, stderr } = await cli(empty(), 'prices', 'my-\u001b[2Jmodel');
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('is unknown. Set yours: createAgent({ prices: { "my-');
    expect(stderr).not.toContain('\u001b');
  });

  it("prints the config's own prices first, and marks them", async () => {
    const { stdout } = await cli(priced(), 'prices');
    const [, first, second, third] = stdout.split('\n');
    expect(first).toMatch(/^acme-large +7 +9 +- +8 +- +config: support$/);
    expect(second).toMatch(/^ {2}> 1,000 input +8 +10/);
    expect(third).not.toContain('config');
    expect(stdout).toMatch(/^gpt-5 +1\.25 +10 +0\.125 +- +-$/m);
  });

  it('prints one JSON object for programs', async () => {
    const { lines } = await cli(
      priced(),
      'prices',
      'gpt-5-nano',
      'acme',
      'gpt-5-nano',
      'other',
      '--json',
    );
    expect(lines).toEqual([
      {
        type: 'prices',
        source: { ...listPriceSource },
        prices: [
          {
            model: 'acme-large',
            source: 'config',
            agent: 'support',
            input: 7,
            output: 9,
            cached_input: null,
            cache_write: 8,
            cache_write_1h: null,
            above: {
              tokens: 1_000,
              input: 8,
              output: 10,
              cached_input: null,
              cache_write: null,
              cache_write_1h: null,
            },
          },
          {
            model: 'gpt-5-nano',
            source: 'list',
            agent: null,
            input: 0.05,
            output: 0.4,
            cached_input: 0.005,
            cache_write: null,
            cache_write_1h: null,
            above: null,
          },
        ],
        unknown: ['other'],
      },
    ]);
  });
});
