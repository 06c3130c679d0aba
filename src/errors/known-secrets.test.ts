import { describe, expect, it } from 'vitest';
import { withoutKnown } from './known-secrets.ts';

describe('known secrets', () => {
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
  ])('keeps a placeholder: %j in %j', (secret, text) => {
    expect(withoutKnown(text, [secret])).toBe(text);
  });

  it.each([
    ['q7xv', 'the key q7xv is wrong, not aq7xvb', 'the key [redacted] is wrong, not aq7xvb'],
    ['key.1+2', 'bad key.1+2! key-1+2', 'bad [redacted]! key-1+2'],
    ['swordfish', 'swordfishes eat "swordfish"', 'swordfishes eat "[redacted]"'],
  ])('hides a short secret only as a whole word: %s in %s', (secret, text, expected) => {
    expect(withoutKnown(text, [secret])).toBe(expected);
  });

  it('hides a long secret anywhere', () => {
    const secret = 'a-key-of-twenty-chars';
    expect(withoutKnown(`x${secret}y`, [secret])).toBe('x[redacted]y');
  });

  it('hides the longest secret first', () => {
    const secrets = ['long-enough-to-be-one', 'long-enough-to-be-one-and-more'];
    expect(withoutKnown(`is ${secrets[1]}`, secrets)).toBe('is [redacted]');
  });
});
