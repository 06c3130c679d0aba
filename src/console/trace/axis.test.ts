import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TracePause, TraceStep } from '../../trace/trace.ts';
import { axisOf, sameAxis, tickStep } from './axis.ts';
import { marksOf } from './axis-marks.ts';

const step = (at: number, durationMs: number, more: Partial<TraceStep> = {}): TraceStep => ({
  number: 1,
  attempt: 1,
  type: 'final',
  startedAt: '2026-01-16T12:00:00.000Z',
  at,
  durationMs,
  bars: [],
  waitMs: 0,
  inputTokens: 0,
  outputTokens: 0,
  modelUsage: null,
  cost: null,
  costSoFar: null,
  finishReason: null,
  softLanding: null,
  notes: [],
  outcome: null,
  ...more,
});
const pause = (at: number, durationMs: number | null = 1000): TracePause => ({
  at,
  step: 1,
  durationMs,
  kind: 'approval',
  reason: null,
});
const source = (steps: readonly TraceStep[], pauses: readonly TracePause[] = []) => ({
  steps,
  pauses,
  hasEarlier: false,
});

describe('axisOf', () => {
  it('puts round numbers on an axis of 17.3 s and names its end', () => {
    const axis = axisOf(source([step(0, 17_300)]), 5);
    expect(axis.ticks.map(({ label }) => label)).toEqual(['0 s', '5 s', '10 s', '15 s']);
    expect(axis.endLabel).toBe('17.3 s');
    expect(axis.place(17_300, 'before')).toBe(1);
  });

  it.each([
    [3, 4, ['0 ms', '1 ms', '2 ms'], '3 ms'],
    [900, 5, ['0 ms', '200 ms', '400 ms', '600 ms', '800 ms'], '0.90 s'],
    [2_110, 5, ['0 s', '0.5 s', '1 s', '1.5 s', '2 s'], '2.11 s'],
    [151_000, 6, ['0m', '0m 30s', '1m', '1m 30s', '2m', '2m 30s'], '2m 31s'],
    [5_000_000, 5, ['0h', '30m', '1h'], '1h 23m'],
    [86_400_000 * 3, 4, ['0h', '24h', '48h'], '3d 00h'],
  ])('uses one unit over %i ms', (ms, maxTicks, labels, end) => {
    const axis = axisOf(source([step(0, ms)]), maxTicks);
    expect(axis.ticks.map(({ label }) => label)).toEqual(labels);
    expect(axis.endLabel).toBe(end);
  });

  it('gives a pause the same width whether it took a second or a day', () => {
    const short = axisOf(source([step(0, 10_000)], [pause(4000, 1000)]));
    const long = axisOf(source([step(0, 10_000)], [pause(4000, 86_400_000)]));
    expect(short.breaks[0]?.width).toBe(long.breaks[0]?.width);
    expect(short.place(4000, 'before')).toBe(long.place(4000, 'before'));
    expect(short.place(4000, 'after') - short.place(4000, 'before')).toBeCloseTo(0.07);
  });

  it('draws pauses at the same moment of work as one break', () => {
    const { breaks } = axisOf(source([step(0, 10_000)], [pause(4000), pause(4000), pause(6000)]));
    expect(breaks.map(({ at, pauses }) => [at, pauses.length])).toEqual([
      [4000, 2],
      [6000, 1],
    ]);
  });

  it('leaves most of the width to the work, however many pauses there are', () => {
    const pauses = Array.from({ length: 500 }, (_, i) => pause(i * 20));
    const axis = axisOf(source([step(0, 10_000)], pauses));
    const broken = axis.breaks.reduce((sum, { width }) => sum + width, 0);
    expect(broken).toBeLessThanOrEqual(0.2801);
    expect(axis.place(10_000, 'after')).toBeCloseTo(1);
  });

  it('accepts a run of no length', () => {
    const axis = axisOf(source([step(0, 0)]));
    expect(axis.place(0, 'before')).toBe(0);
    expect(Number.isFinite(axis.place(5, 'after'))).toBe(true);
    expect(axisOf(source([])).place(0, 'before')).toBe(0);
  });

  it('starts with the first visible step if earlier ones are omitted', () => {
    const axis = axisOf({ ...source([step(60_000, 4000)], [pause(10)]), hasEarlier: true });
    expect(axis.startMs).toBe(60_000);
    expect(axis.breaks).toEqual([]);
    expect(axis.place(60_000, 'before')).toBe(0);
  });

  it('counts the backoff after the last step as time', () => {
    expect(axisOf(source([step(0, 240, { waitMs: 2000 })])).endMs).toBe(2240);
  });

  it('ends ahead of a running step, so that nothing else moves while it grows', () => {
    const at = (ms: number) => axisOf(source([step(0, 1000), step(1000, ms, { type: 'running' })]));
    expect(at(2100).endMs).toBe(4000);
    expect(sameAxis(at(2100), at(2900))).toBe(true);
    expect(sameAxis(at(2100), at(3100))).toBe(false);
    expect(at(3100).endMs).toBeGreaterThan(4100);
  });

  it('is monotonic, stays inside the chart, and keeps the order around breaks', () => {
    const ms = fc.integer({ min: 0, max: 10_000_000 });
    fc.assert(
      fc.property(ms, fc.array(ms, { maxLength: 30 }), fc.array(ms), (length, breaks, moments) => {
        const axis = axisOf(
          source(
            [step(0, length)],
            breaks.map((at) => pause(at)),
          ),
        );
        const sorted = moments.toSorted((a, b) => a - b);
        let before = 0;
        for (const moment of sorted) {
          const from = axis.place(moment, 'before');
          const to = axis.place(moment, 'after');
          expect(from).toBeGreaterThanOrEqual(before - 1e-9);
          expect(to).toBeGreaterThanOrEqual(from);
          expect(to).toBeLessThanOrEqual(1 + 1e-9);
          before = to;
        }
        for (const { at, left, width } of axis.breaks) {
          expect(left).toBeCloseTo(axis.place(at, 'before'));
          expect(left + width).toBeCloseTo(axis.place(at, 'after'));
        }
      }),
    );
  });

  it('has at most the requested number of ticks, at whole steps', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2_000_000_000 }),
        fc.integer({ min: 2, max: 8 }),
        (length, maxTicks) => {
          const { ticks } = axisOf(source([step(0, length)]), maxTicks);
          const size = tickStep(length, maxTicks);
          expect(ticks.length).toBeLessThanOrEqual(maxTicks + 1);
          expect(ticks.every(({ at }) => at % size === 0)).toBe(true);
          expect(new Set(ticks.map(({ label }) => label)).size).toBe(ticks.length);
        },
      ),
    );
  });
});

describe('marksOf', () => {
  it('keeps labels apart, and always shows the beginning', () => {
    const ms = fc.integer({ min: 0, max: 600_000 });
    fc.assert(
      fc.property(
        ms,
        fc.array(ms, { maxLength: 12 }),
        fc.integer({ min: 200, max: 1400 }),
        (length, breaks, width) => {
          const axis = axisOf(
            source(
              [step(0, length)],
              breaks.map((at) => pause(at)),
            ),
            6,
          );
          const marks = marksOf(axis, width);
          expect(marks[0]?.key).toBe('tick0');
          const spans = marks
            .map(({ x, text, anchor }) => {
              const w = text.length * 5;
              return anchor === 'start'
                ? [x, x + w]
                : anchor === 'end'
                  ? [x - w, x]
                  : [x - w / 2, x + w / 2];
            })
            .toSorted(([a = 0], [b = 0]) => a - b);
          for (const [i, [from = 0]] of spans.entries())
            if (i > 0) expect(from).toBeGreaterThanOrEqual(spans[i - 1]?.[1] ?? 0);
        },
      ),
    );
  });

  it('labels a break with its duration and reason', () => {
    const axis = axisOf(
      source(
        [step(0, 10_000)],
        [{ ...pause(5000, 252_000), reason: 'delete_lead needs approval' }],
      ),
    );
    expect(marksOf(axis, 400).find(({ text }) => text === '//')?.title).toBe(
      'paused 4m 12s: delete_lead needs approval',
    );
  });
});
