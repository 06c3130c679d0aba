import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AgentBuilder } from './agent/agent-builder.ts';
import {
  isoTime,
  monotonicOf,
  msOf,
  stretchTime,
  syncSystemClock,
  systemClock,
  type Clock,
} from './clock.ts';
import { DeterministicDriver } from './testing/deterministic-driver.ts';
import { fakeClock } from './testing/fake-clock.ts';

const HOUR = 3_600_000;
/** Of two readings with nothing between them but other processes. */
const CLOSE_MS = 5_000;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  syncSystemClock();
  systemClock.now();
});

describe('systemClock.now', () => {
  it('is the time, never runs backwards by itself, and has fractions', () => {
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

  it('does so at once after syncSystemClock', () => {
    const real = Date.now.bind(Date);
    systemClock.now();
    vi.spyOn(Date, 'now').mockImplementation(() => real() + HOUR);
    syncSystemClock();
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(CLOSE_MS);
  });

  it('a process that was frozen between two runs begins the second in the present', async () => {
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

  it('calls once, after the time', () => {
    const fn = vi.fn();
    systemClock.after(500, fn);
    vi.advanceTimersByTime(499);
    expect(fn).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1_000);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it('a time in the past is now', () => {
    const fn = vi.fn();
    systemClock.after(-5, fn);
    vi.advanceTimersByTime(0);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it.each([30, 60, 100])('%d days are longer than one timer can be, and still come', (days) => {
    const fn = vi.fn();
    const ms = days * 24 * HOUR;
    systemClock.after(ms, fn);
    vi.advanceTimersByTime(ms - 1);
    expect(fn).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it('Infinity never comes', () => {
    const fn = vi.fn();
    const cancel = systemClock.after(Number.POSITIVE_INFINITY, fn);
    vi.advanceTimersByTime(200 * 24 * HOUR);
    expect(fn).not.toHaveBeenCalled();
    cancel();
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([10, 90 * 24 * HOUR])('cancelled before %d ms it leaves no timer behind', (ms) => {
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
  it('turn time into text and back, to the millisecond, in any order', () => {
    const times = [0, 1, 999.9, 1_768_564_800_000.25, 0, 1_768_564_800_001];
    for (const ms of times) {
      expect(isoTime(ms)).toBe(new Date(Math.floor(ms)).toISOString());
      expect(msOf(isoTime(ms))).toBe(Math.floor(ms));
    }
    expect(msOf('2026-01-16T12:00:00.000Z')).toBe(1_768_564_800_000);
  });
});

describe('stretchTime', () => {
  const DAY = 24 * HOUR;

  it.each([-DAY, -HOUR, HOUR, DAY])('stays where it is when the wall is set by %d ms', (jump) => {
    const clock = fakeClock(10 * DAY);
    const now = stretchTime(clock);
    clock.jump(5);
    clock.jumpWall(jump);
    expect(now()).toBe(10 * DAY + 5);
    expect(stretchTime(clock)()).toBe(10 * DAY + 5 + jump);
  });

  it.each([
    ['what was written in the past', 9 * DAY, 10 * DAY],
    ['what was written in the future', 11 * DAY, 11 * DAY],
    ['a future that no clock is wrong by', 20 * DAY, 10 * DAY],
    ['what is no time', Number.NaN, 10 * DAY],
  ])('begins behind %s', (_what, notBefore, expected) => {
    const clock = fakeClock(10 * DAY);
    const now = stretchTime(clock, notBefore);
    expect(now()).toBe(expected);
    clock.jump(7);
    expect(now()).toBe(expected + 7);
  });

  it('of the system clock, is the time and follows no jump', () => {
    const now = stretchTime(systemClock);
    expect(Math.abs(now() - Date.now())).toBeLessThan(CLOSE_MS);
    const real = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => real() - HOUR);
    for (let i = 0; i < 40; i++) systemClock.now();
    expect(Math.abs(now() - real())).toBeLessThan(CLOSE_MS);
  });
});

it('monotonicOf counts only what a clock without monotonic time moves forward', () => {
  let now = 1_000;
  const clock: Clock = { now: () => now, after: () => () => {} };
  const monotonic = monotonicOf(clock);
  const readings = [0, 10, -500, 20, -1, 1].map((ms) => ((now += ms), monotonic()));
  expect(readings).toEqual([0, 10, 10, 30, 30, 31]);
});
