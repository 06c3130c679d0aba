import { describe, expect, it } from 'vitest';
import { childOf, pointerKeys, pointerTo, setChild } from './json-pointer.ts';

describe('JSON pointers', () => {
  it.each([
    ['', []],
    ['/a', ['a']],
    ['/a~1b/~0/0', ['a/b', '~', '0']],
    ['/', ['']],
  ])('%j has the keys %j, and back', (pointer, keys) => {
    expect(pointerKeys(pointer)).toEqual(keys);
    expect(keys.reduce(pointerTo, '')).toBe(pointer);
  });

  it.each(['a', '/~', '/a~2'])('%j is not a pointer', (text) =>
    expect(pointerKeys(text)).toBeNull(),
  );

  it('find only own values', () => {
    expect(childOf({ a: 1 }, 'a')).toBe(1);
    expect(['toString', '__proto__', 'constructor'].map((key) => childOf({}, key))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(['0', '1', '-1', '01', 'length'].map((key) => childOf(['x'], key))).toEqual([
      'x',
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(childOf('text', '0')).toBeUndefined();
  });

  it('set and delete own values, and never a prototype', () => {
    const value: Record<string, unknown> = { a: 1, list: [1, 2] };
    expect(setChild(value, 'b', null)).toBe(true);
    expect(setChild(value, '__proto__', { x: 1 })).toBe(true);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toBe('{"a":1,"list":[1,2],"b":null,"__proto__":{"x":1}}');
    expect([setChild(value, 'a', undefined), setChild(value, 'gone', undefined)]).toEqual([
      true,
      false,
    ]);
    expect([setChild(value['list'], '1', 3), setChild(value['list'], '2', 4)]).toEqual([
      true,
      false,
    ]);
    expect(setChild(value['list'], '0', undefined)).toBe(false);
    expect(value['list']).toEqual([1, 3]);
    expect(setChild('text', 'a', 1)).toBe(false);
  });
});
