import { expect, it } from 'vitest';
import { logMessage, logStack, logText } from './log-text.ts';

const HOSTILE =
  'a\u001b[2J\u001b]0;title\u0007 b\u009b31m c\rd \u202eevil\n2026-01-01 INFO all is well sk-live-abcdefghijklmnop1234';

it('D43: a log line has no secret, no line break and no terminal control', () => {
  const line =
    'a\\u001b[2J\\u001b]0;title\\u0007 b\\u009b31m c\\rd \\u202eevil\\n2026-01-01 INFO all is well [redacted]';
  expect(logText(HOSTILE)).toBe(line);
  expect(logMessage(new Error(HOSTILE))).toBe(line);
  expect(logMessage(HOSTILE)).toBe(line);
});

it('a stack keeps its frames on separate lines, and the message on one', () => {
  const [head, ...frames] = logStack(
    new TypeError(`x\n    at forged (file.js:1:1)\n${HOSTILE}`),
  ).split('\n');
  expect(head).toMatch(/^TypeError: x\\n {4}at forged .*\[redacted\]$/);
  expect(frames.length).toBeGreaterThan(0);
  for (const frame of frames) expect(frame).toMatch(/^ {4}at /);
  expect(logStack('thrown\ntext')).toBe('thrown\\ntext');
  const bare = new Error('no stack');
  delete (bare as { stack?: string }).stack;
  expect(logStack(bare)).toBe('Error: no stack');
});
