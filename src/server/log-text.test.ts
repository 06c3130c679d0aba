import { expect, it } from 'vitest';
import { logText } from './log-text.ts';

it('D43: a line for a log holds no secret, and nothing that steers a terminal', () => {
  const words =
    'a\u001b[2J\u001b]0;title\u0007 b\u009b31m c\rd \u202eevil sk-live-abcdefghijklmnop1234';
  expect(logText(words)).toBe('a[2J]0;title b31m cd evil [redacted]');
  expect(logText('Error: x\n\tat y')).toBe('Error: x\n\tat y');
});
