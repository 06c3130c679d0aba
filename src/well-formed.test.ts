import { describe, expect, it } from 'vitest';
import { wellFormed } from './well-formed.ts';

const half = '\ud83d';

describe('wellFormed', () => {
  it.each<[string, unknown, unknown]>([
    ['a text', `a${half}b`, 'a\ufffdb'],
    ['the second half of a pair', '\ude00', '\ufffd'],
    ['two halves in the wrong order', '\ude00\ud83d', '\ufffd\ufffd'],
    ['a whole pair', '😀', '😀'],
    ['a list', [1, half, ['x', half]], [1, '\ufffd', ['x', '\ufffd']]],
    ['an object', { a: { b: half }, c: null }, { a: { b: '\ufffd' }, c: null }],
    ['a key', { [half]: 1 }, { '\ufffd': 1 }],
  ])('replaces halves of pairs in %s', (_what, given, expected) => {
    expect(wellFormed(given)).toEqual(expected);
  });

  it('returns the same value if there is nothing to replace', () => {
    const value = { a: ['😀', { b: 1, c: null }], d: undefined };
    expect(wellFormed(value)).toBe(value);
  });

  it('copies only what changes, and does not change what it was given', () => {
    const whole = { text: 'whole' };
    const given = { parts: [whole, { text: half }] };
    const result = wellFormed(given);
    expect(given.parts[1]?.text).toBe(half);
    expect(result.parts[0]).toBe(whole);
  });

  it('leaves addresses and bytes as they are', () => {
    const url = new URL('https://a.example/');
    const bytes = new Uint8Array([1]);
    expect(wellFormed([url, bytes, half])).toEqual([url, bytes, '\ufffd']);
  });

  it('keeps a key named __proto__ an ordinary key', () => {
    const given = JSON.parse(`{"__proto__":{"isAdmin":true},"a":"\\ud83d"}`) as object;
    const result = wellFormed(given);
    expect(Object.hasOwn(result, '__proto__')).toBe(true);
    expect('isAdmin' in result).toBe(false);
  });
});
