import { describe, expect, it } from 'vitest';
import { retryAfterMs } from './failures.ts';

describe('Retry-After', () => {
  const now = Date.parse('2026-01-16T12:00:00.000Z');
  it.each([
    [null, 0],
    ['', 0],
    [' ', 0],
    ['7', 7_000],
    ['-7', 0],
    ['99999', 300_000],
    ['Fri, 16 Jan 2026 12:00:09 GMT', 9_000],
    ['Fri, 16 Jan 2026 11:00:00 GMT', 0],
    ['Sat, 17 Jan 2026 12:00:00 GMT', 300_000],
    ['soon', 0],
  ])('%j is a wait of %i ms', (text, ms) => {
    expect(retryAfterMs(text, now)).toBe(ms);
  });
});
