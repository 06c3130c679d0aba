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

describe('a seed', () => {
  it.each([1, 2, 940_707_375])('%i gives the same faults and the same turns again', (seed) => {
    expect(lines(seed)).toEqual(lines(seed));
    expect(lines(seed)).not.toEqual(lines(seed + 1));
    expect(scripts(seed)).toBe(scripts(seed));
    expect(scripts(seed)).not.toBe(scripts(seed + 1));
  });

  it('gives every kind of fault where there is room, and only those that were asked for', () => {
    for (const store of ['sqlite', 'postgres'] as const) {
      const kinds = kindsFor(store);
      const dealt = faultSchedule(7, { ...options, kinds, count: kinds.length + 2 });
      expect(new Set(dealt.map(({ kind }) => kind))).toEqual(new Set(kinds));
    }
    expect(
      new Set(lines(3, { ...options, kinds: ['lock'] }).map((line) => line.split(' ')[2])),
    ).toEqual(new Set(['lock']));
  });

  it('gives nothing where nothing can be done', () => {
    expect(faultSchedule(3, { ...options, kinds: [] })).toEqual([]);
  });

  it('freezes for longer than a lease lasts, and meets every worker', () => {
    const dealt = faultSchedule(11, { ...options, count: 400 });
    for (const { kind, ms } of dealt) if (kind === 'freeze') expect(ms).toBeGreaterThan(600);
    expect(new Set(dealt.map(({ slot }) => slot))).toEqual(new Set([0, 1, 2]));
  });
});
