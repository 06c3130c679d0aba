import { describe, expect, it } from 'vitest';
import { withoutKnown } from './known-secrets.ts';

describe('secrets that are known by their value', () => {
  it.each([
    ['none', 'nonexistent model, tool_choice none'],
    ['NONE', 'a NONE and none'],
    ['test', 'the latest test failed'],
    ['null', 'a nullable null'],
    ['true', 'construe it as true'],
    ['ollama', 'ollama: no such model llama'],
    ['EMPTY', 'EMPTY body'],
    ['dummy', 'dummy'],
    ['not-needed', 'not-needed here'],
    ['abc', 'abc'],
    ['', 'nothing'],
    ['  ', 'two  blanks'],
  ])('a dummy is no secret: %j in %j', (secret, text) => {
    expect(withoutKnown(text, [secret])).toBe(text);
  });

  it.each([
    ['q7xv', 'the key q7xv is wrong, not aq7xvb', 'the key [redacted] is wrong, not aq7xvb'],
    ['key.1+2', 'bad key.1+2! key-1+2', 'bad [redacted]! key-1+2'],
    ['swordfish', 'swordfishes eat "swordfish"', 'swordfishes eat "[redacted]"'],
  ])('a short one is hidden where it stands alone: %s in %s', (secret, text, expected) => {
    expect(withoutKnown(text, [secret])).toBe(expected);
  });

  it('a long one is hidden wherever it stands', () => {
    const secret = 'a-key-of-twenty-chars';
    expect(withoutKnown(`x${secret}y`, [secret])).toBe('x[redacted]y');
  });

  it('the longest is hidden first', () => {
    const secrets = ['long-enough-to-be-one', 'long-enough-to-be-one-and-more'];
    expect(withoutKnown(`is ${secrets[1]}`, secrets)).toBe('is [redacted]');
  });
});
