import { describe, expect, it } from 'vitest';
import { LimitWindow, WINDOW_MS } from './limit-window.ts';

describe('the window of the last minute', () => {
  it('counts requests and tokens until they are a minute old', () => {
    const window = new LimitWindow();
    window.add(0, 10);
    window.add(1_000, 20);
    expect([window.requests, window.tokens, window.msToNext(1_000)]).toEqual([2, 30, 59_000]);
    window.expire(WINDOW_MS - 1);
    expect([window.requests, window.tokens]).toEqual([2, 30]);
    window.expire(WINDOW_MS);
    expect([window.requests, window.tokens, window.msToNext(WINDOW_MS)]).toEqual([1, 20, 1_000]);
    window.expire(10 * WINDOW_MS);
    expect([window.requests, window.tokens, window.msToNext(10 * WINDOW_MS)]).toEqual([0, 0, 0]);
  });

  it('corrects an estimate, and ignores the correction of a request that no longer counts', () => {
    const window = new LimitWindow();
    const old = window.add(0, 10);
    const young = window.add(30_000, 10);
    window.correct(young, 50, 31_000);
    expect(window.tokens).toBe(60);
    window.correct(old, 1_000, WINDOW_MS);
    expect(window.tokens).toBe(50);
    window.correct(young, 5, WINDOW_MS);
    expect(window.tokens).toBe(5);
  });

  it('has no tokens when it is empty, whatever rounding leaves of fractions', () => {
    const window = new LimitWindow();
    for (const tokens of [0.1, 0.2, 0.3]) window.add(0, tokens);
    window.expire(WINDOW_MS);
    expect(window.tokens).toBe(0);
  });
});
