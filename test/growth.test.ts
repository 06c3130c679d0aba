import { describe, expect, it, vi } from 'vitest';
import { cases, type GrowthCase } from '../bench/growth/cases.ts';

vi.setConfig({ testTimeout: 240_000 });

/** Eight times the text may take this much of the work; what is quadratic takes 64 times. */
const TIMES = 8;
const MOST_TIMES = 32;
const LARGE = 32_768;
/** What is quicker than this is not worth a second look. */
const QUICK_MS = 25;
const TRIES = 3;

/** The work of this process in milliseconds: time that others had the processor does not count. */
const worked = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

function workOf({ input, run }: GrowthCase, size: number): number {
  const given = input(size) as never;
  const began = worked();
  run(given);
  return worked() - began;
}

/** The best ratio of a few tries: growth is there every time, garbage is not. */
function isLinear(one: GrowthCase): boolean {
  for (let i = 0; i < TRIES; i++) {
    const large = workOf(one, LARGE);
    if (large < QUICK_MS) return true;
    if (large / Math.max(workOf(one, LARGE / TIMES), 0.05) < MOST_TIMES) return true;
  }
  return false;
}

const byFunction = new Map<string, GrowthCase[]>();
for (const one of cases) {
  const [name = ''] = one.name.split(': ');
  byFunction.set(name, [...(byFunction.get(name) ?? []), one]);
}

describe('D92: what reads text of others grows no faster than the text', () => {
  it.each([...byFunction])('%s', (_name, some) => {
    expect(some.filter((one) => !isLinear(one)).map(({ name }) => name)).toEqual([]);
  });

  it('would see what does not', () => {
    const run = (text: string): number => {
      let found = 0;
      for (let at = 0; at < text.length; at++) found += text.slice(at).split('a').length;
      return found;
    };
    expect(isLinear({ name: 'quadratic', input: (size) => 'ab'.repeat(size / 8), run })).toBe(
      false,
    );
  });
});
