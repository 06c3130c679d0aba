import { describe, expect, it } from 'vitest';
import { defaultRedactor } from '../errors/redactor.ts';
import { failureText } from './failure-text.ts';

describe('failureText', () => {
  it.each([
    [new Error('a\u0000b\nc'), 'a\\u0000b\\nc'],
    ['text', 'text'],
    [Object.create(null), '{}'],
    [new Error(''), 'Error'],
    [
      {
        toJSON() {
          throw new Error('no');
        },
        toString() {
          throw new Error('no');
        },
      },
      'something was thrown that cannot be shown',
    ],
    [new Error('key sk-live-0123456789abcdef0123'), 'key [redacted]'],
  ])('shows %o as one safe line', (thrown, text) => {
    expect(failureText(thrown, defaultRedactor)).toBe(text);
  });
});
