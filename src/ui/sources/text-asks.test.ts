import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { textAsks } from './text-asks.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('requests a text with a gap three times with growing waits, and starts again for another text', () => {
  let text: string | null = 'a';
  const asks = textAsks(() => text, { textMs: 100 });
  const waits = [100, 400, 1_600].map((ms) => {
    expect(asks.isDue()).toBe(true);
    asks.asked('a', false);
    vi.advanceTimersByTime(ms - 1);
    expect(asks.isDue()).toBe(false);
    vi.advanceTimersByTime(1);
    return asks.isDue();
  });
  expect(waits).toEqual([true, true, false]);
  text = 'b';
  expect(asks.isDue()).toBe(true);
  asks.asked('b', true);
  expect(asks.isDue()).toBe(false);
  text = null;
  vi.advanceTimersByTime(100);
  expect(asks.isDue()).toBe(false);
});
