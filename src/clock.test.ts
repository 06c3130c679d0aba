import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentBuilder } from './agent/agent-builder.ts';
import {
  isoTime,
  monotonicOf,
  msOf,
  runTime,
  syncSystemClock,
  systemClock,
  type Clock,
} from './clock.ts';
import { DeterministicDriver } from './testing/deterministic-driver.ts';
import { fakeClock } from './testing/fake-clock.ts';

const HOUR = 3_600_000;
/** Most time between two readings in a row, if other processes use the CPU. */
const CLOSE_MS = 5_000;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  syncSystemClock();
  systemClock.now();
});

describe('systemClock.now', () => {
  it('is the time with fractions, and does not go back by itself', () => {
    const readings = Array.from({ length: 1_000 }, () => systemClock.now());
    expect(Math.abs(readings[0]! - Date.now())).toBeLessThan(CLOSE_MS);
    expect(readings).toEqual(readings.toSorted((a, b) => a - b));
    expect(readings.some((ms) => !Number.isInteger(ms))).toBe(true);
  });

  it.each([HOUR, -HOUR])('follows a wall clock that was set by %d ms', (jump) => {
    const real = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => real() + jump);
    for (let i = 0; i < 16; i++) systemClock.now();
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(CLOSE_MS);
  });

  it('follows it immediately after syncSystemClock', () => {
    const real = Date.now.bind(Date);
    systemClock.now();
    vi.spyOn(Date, 'now').mockImplementation(() => real() + HOUR);
    syncSystemClock();
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(CLOSE_MS);
  });

  it('is current in the second run if the process was frozen between two runs', async () => {
    const real = Date.now.bind(Date);
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromResponses(...Array<string>(40).fill('ok')))
      .build();
    let frozen = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => real() + frozen);
    let state = await agent.run('first');
    for (let i = 0; i < 35; i++) {
      frozen += HOUR;
      for (let reads = 0; reads < i % 16; reads++) systemClock.now();
      state = await agent.run(i % 2 === 0 ? 'again' : state.withUserMessage('again'));
      expect(state.stopReason).toBe('completed');
      expect(Math.abs(msOf(state.executionStartedAt!) - Date.now())).toBeLessThan(CLOSE_MS);
      expect(state.execution.cumulativeSeconds).toBeLessThan(10);
    }
  });
});

describe('systemClock.after', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  it('calls once, after the delay', () => {
    const fn = vi.fn();
    systemClock.after(500, fn);
    vi.advanceTimersByTime(499);
    expect(fn).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1_000);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it('treats a negative delay as 0', () => {
    const fn = vi.fn();
    systemClock.after(-5, fn);
    vi.advanceTimersByTime(0);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it.each([30, 60, 100])('calls after %d days, which exceeds the longest timer', (days) => {
    const fn = vi.fn();
    const ms = days * 24 * HOUR;
    systemClock.after(ms, fn);
    vi.advanceTimersByTime(ms - 1);
    expect(fn).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it('never calls after Infinity', () => {
    const fn = vi.fn();
    const cancel = systemClock.after(Number.POSITIVE_INFINITY, fn);
    vi.advanceTimersByTime(200 * 24 * HOUR);
    expect(fn).not.toHaveBeenCalled();
    cancel();
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([10, 90 * 24 * HOUR])('leaves no timer if cancelled before %d ms', (ms) => {
    const fn = vi.fn();
    const cancel = systemClock.after(ms, fn);
    vi.advanceTimersByTime(ms / 2);
    cancel();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(ms);
    expect(fn).not.toHaveBeenCalled();
  });
});

describe('isoTime and msOf', () => {
  it('convert a time to text and back, to the millisecond, in any order', () => {
    const times = [0, 1, 999.9, 1_768_564_800_000.25, 0, 1_768_564_800_001];
    for (const ms of times) {
      expect(isoTime(ms)).toBe(new Date(Math.floor(ms)).toISOString());
      expect(msOf(isoTime(ms))).toBe(Math.floor(ms));
    }
    expect(msOf('2026-01-16T12:00:00.000Z')).toBe(1_768_564_800_000);
  });
});

describe('runTime', () => {
  const DAY = 24 * HOUR;

  it.each([-DAY, -HOUR, HOUR, DAY])(
    'does not change when the wall clock is set by %d ms',
    (jump) => {
      const clock = fakeClock(10 * DAY);
      const now = runTime(clock);
      clock.jump(5);
      clock.jumpWall(jump);
      expect(now()).toBe(10 * DAY + 5);
      expect(runTime(clock)()).toBe(10 * DAY + 5 + jump);
    },
  );

  it.each([
    ['a past time', 9 * DAY, 10 * DAY],
    ['a future time', 11 * DAY, 11 * DAY],
    ['a time too far in the future', 20 * DAY, 10 * DAY],
    ['an invalid time', Number.NaN, 10 * DAY],
  ])('starts correctly if notBefore is %s', (_what, notBefore, expected) => {
    const clock = fakeClock(10 * DAY);
    const now = runTime(clock, notBefore);
    expect(now()).toBe(expected);
    clock.jump(7);
    expect(now()).toBe(expected + 7);
  });

  it('with the system clock is the time, and ignores a jump', () => {
    const now = runTime(systemClock);
    expect(Math.abs(now() - Date.now())).toBeLessThan(CLOSE_MS);
    const real = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => real() - HOUR);
    for (let i = 0; i < 40; i++) systemClock.now();
    expect(Math.abs(now() - real())).toBeLessThan(CLOSE_MS);
  });
});

it('monotonicOf counts only forward steps of a clock without monotonic time', () => {
  let now = 1_000;
  const clock: Clock = { now: () => now, after: () => () => {} };
  const monotonic = monotonicOf(clock);
  const readings = [0, 10, -500, 20, -1, 1].map((ms) => ((now += ms), monotonic()));
  expect(readings).toEqual([0, 10, 10, 30, 30, 31]);
});
