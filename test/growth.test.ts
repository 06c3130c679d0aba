import { describe, expect, it, vi } from 'vitest';
import { cpuMsOf } from './setup/cpu-time.ts';
import { cases, type GrowthCase } from '../bench/growth/cases.ts';

vi.setConfig({ testTimeout: 240_000 });

/** A text may take 4 times the CPU time of its eighth, read eight times. Quadratic code takes 8 times. */
const TIMES = 8;
const MOST_TIMES = 4;
const LARGE = 32_768;
/** Cases faster than this pass without a second measurement. */
const QUICK_MS = 25;
const TRIES = 5;

function workOf({ input, run }: GrowthCase, size: number, times: number): Promise<number> {
  const given = input(size) as never;
  return cpuMsOf(async () => {
    for (let i = 0; i < times; i++) await run(given);
  });
}

/**
 * Passes if one of a few tries grows slowly enough: growth is there every time, garbage collection is not, and neither is
 * code that a busy machine has not compiled yet.
 */
async function isLinear(one: GrowthCase): Promise<boolean> {
  for (let i = 0; i < TRIES; i++) {
    const large = await workOf(one, LARGE, 1);
    if (large < QUICK_MS) return true;
    if (large / Math.max(await workOf(one, LARGE / TIMES, TIMES), 0.4) < MOST_TIMES) return true;
  }
  return false;
}

const byFunction = new Map<string, GrowthCase[]>();
for (const one of cases) {
  const [name = ''] = one.name.split(': ');
  byFunction.set(name, [...(byFunction.get(name) ?? []), one]);
}

describe('D92: functions that read untrusted text take linear time', () => {
  it.each([...byFunction])('%s', async (_name, some) => {
    const quadratic: string[] = [];
    for (const one of some) if (!(await isLinear(one))) quadratic.push(one.name);
    expect(quadratic).toEqual([]);
  });

  it('the check detects quadratic growth', async () => {
    const run = (text: string): number => {
      let found = 0;
      for (let at = 0; at < text.length; at++) found += text.slice(at).split('a').length;
      return found;
    };
    const one = { name: 'quadratic', input: (size: number) => 'ab'.repeat(size / 8), run };
    expect(await isLinear(one)).toBe(false);
  });
});
