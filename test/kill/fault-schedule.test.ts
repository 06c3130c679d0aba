import { describe, expect, it } from 'vitest';
import { describeFault, faultKinds, faultSchedule, kindsFor } from './fault-schedule.ts';
import { turnScript } from './turn-script.ts';

const options = { count: 60, kinds: faultKinds, slots: 3, leaseMs: 600 };
const lines = (seed: number, given = options): string[] =>
  faultSchedule(seed, given).map(describeFault);
const scripts = (seed: number): string =>
  JSON.stringify(
    Array.from({ length: 40 }, (_, i) => {
      const script = turnScript(seed, `s${i % 8}`, i);
      return { ...script, answers: Array.from({ length: 5 }, (_, n) => script.answer(n)) };
    }),
  );

describe('the seed of a campaign', () => {
  it.each([1, 2, 940_707_375])('%i always gives the same faults and turns', (seed) => {
    expect(lines(seed)).toEqual(lines(seed));
    expect(lines(seed)).not.toEqual(lines(seed + 1));
    expect(scripts(seed)).toBe(scripts(seed));
    expect(scripts(seed)).not.toBe(scripts(seed + 1));
  });

  it('gives every kind of fault if the count allows, and only requested kinds', () => {
    for (const store of ['sqlite', 'postgres'] as const) {
      const kinds = kindsFor(store);
      const dealt = faultSchedule(7, { ...options, kinds, count: kinds.length + 2 });
      expect(new Set(dealt.map(({ kind }) => kind))).toEqual(new Set(kinds));
    }
    expect(
      new Set(lines(3, { ...options, kinds: ['lock'] }).map((line) => line.split(' ')[2])),
    ).toEqual(new Set(['lock']));
  });

  it('gives no faults without kinds', () => {
    expect(faultSchedule(3, { ...options, kinds: [] })).toEqual([]);
  });

  it('freezes for longer than a lease and affects every worker', () => {
    const dealt = faultSchedule(11, { ...options, count: 400 });
    for (const { kind, ms } of dealt) if (kind === 'freeze') expect(ms).toBeGreaterThan(600);
    expect(new Set(dealt.map(({ slot }) => slot))).toEqual(new Set([0, 1, 2]));
  });
});
