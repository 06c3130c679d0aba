import { describe, expect, it } from 'vitest';
import {
  checkedExecutionId,
  checkedLimit,
  checkedOwner,
  checkedPlace,
  checkedSessionId,
  isSessionId,
} from './check-names.ts';

const refused = expect.objectContaining({ code: 'invalid_option' });

describe('names', () => {
  it.each(['a', 'A-Z_0=9@b,c.d;e', 'x'.repeat(128)])('accepts session id %s', (id) => {
    expect(checkedSessionId(id)).toBe(id);
  });
  it.each(['', 'a b', 'a/b', 'a:b', 'ä', 'a\n', 'x'.repeat(129), null, 7, ['a']])(
    'rejects session id %j',
    (id) => {
      expect(isSessionId(id)).toBe(false);
      expect(() => checkedSessionId(id)).toThrow(refused);
    },
  );

  it.each(['ann', 'tenant:7/user 3', 'ä', 'x'.repeat(200)])('accepts owner %s', (owner) => {
    expect(checkedOwner(owner)).toBe(owner);
    expect(checkedExecutionId(owner)).toBe(owner);
  });
  it.each(['.', '..'])('rejects the id %s for a new session, because a URL drops it', (id) => {
    expect(isSessionId(id)).toBe(true);
    expect(() => checkedSessionId(id)).toThrow(refused);
    expect(new URL(`http://a/sessions/${encodeURIComponent(id)}/log`).pathname).not.toContain(id);
  });
  it.each(['a', '...', '.a', 'a..', '-', ';', ',', '=', '@', '_'])('a URL keeps %s', (id) => {
    expect(checkedSessionId(id)).toBe(id);
    const { pathname } = new URL(`http://a/sessions/${encodeURIComponent(id)}`);
    expect(decodeURIComponent(pathname)).toBe(`/sessions/${id}`);
  });

  it.each([
    '\ud800',
    'a\udc00b',
    '',
    'a\tb',
    'a\u007f',
    '\u0000',
    'x'.repeat(201),
    null,
    undefined,
    {},
  ])('rejects owner and execution id %j', (owner) => {
    expect(() => checkedOwner(owner)).toThrow(refused);
    expect(() => checkedExecutionId(owner)).toThrow(refused);
  });
});

describe('numbers', () => {
  it.each([
    [undefined, 200, 50],
    [undefined, 20, 20],
    [1, 200, 1],
    [200, 200, 200],
    [1_000, 200, 200],
  ])('limit %s of at most %i is %i', (limit, most, expected) => {
    expect(checkedLimit(limit, most)).toBe(expected);
  });
  it.each([0, -1, 1.5, Number.NaN, Infinity, '5', null])('rejects limit %j', (limit) => {
    expect(() => checkedLimit(limit as number, 200)).toThrow(refused);
  });
  it('accepts a position from 0 and rejects anything else', () => {
    expect([0, 7].map((place) => checkedPlace('after', place))).toEqual([0, 7]);
    for (const bad of [-1, 0.5, Number.NaN, Infinity, '1' as never])
      expect(() => checkedPlace('after', bad)).toThrow(/^after got/);
  });
});
