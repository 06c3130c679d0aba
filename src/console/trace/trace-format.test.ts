import { expect, it } from 'vitest';
import { secondsOfText, shareText } from './trace-format.ts';

it.each([
  [17.34, 120, ['17.3', '120 s'], 'one unit for both'],
  [119.6, 120, ['119.6', '120 s'], 'not the limit yet'],
  [0.007, 120, ['7 ms', '120 s'], 'too short to share it'],
  [5000, 7200, ['1h 23m', '2h'], 'too long to share it'],
  [151, 600, ['2m 31s', '10m'], 'a limit of minutes'],
])('%d of %d seconds', (used, limit, texts) => expect(secondsOfText(used, limit)).toEqual(texts));

it('a part is never 100 %', () => {
  const shares = [997, 3, 500, 1000, 0].map((ms) => shareText(ms, 1000));
  expect(shares).toEqual(['> 99 %', '< 1 %', '50 %', '100 %', '0 %']);
  expect(shareText(0, 0)).toBe('–');
});
