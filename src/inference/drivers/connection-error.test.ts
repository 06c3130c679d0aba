import { expect, it } from 'vitest';
import { readFailure } from '../inference-error.ts';
import { connectionError } from './connection-error.ts';

it.each<[string, unknown, Record<string, unknown>]>([
  [
    'an answer that overflows the stack or the length of a text',
    new RangeError('Maximum call stack size exceeded'),
    { type: 'validation', code: 'unreadable_body' },
  ],
  [
    'a broken connection',
    new TypeError('terminated', { cause: new Error('other side closed') }),
    { type: 'timeout', code: 'connection_failed' },
  ],
])('reads %s, and keeps what had arrived', (_what, thrown, expected) => {
  const { report, partial } = readFailure(connectionError(thrown, 0, { content: 'Half' }));
  expect(report).toMatchObject(expected);
  expect(partial).toEqual({ content: 'Half' });
});
