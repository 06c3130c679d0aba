import { describe, expect, it } from 'vitest';
import { pastedToken, tokenIn, tokenKeeper } from './token.ts';

it.each([
  ['#token=abc', 'abc', ''],
  ['#token=a%2Bb', 'a+b', ''],
  ['#token=abc&x=1', 'abc', '#x=1'],
  ['#/s/1?token=abc', 'abc', '#/s/1'],
  ['#/s/1/trace?token=abc&execution=e', 'abc', '#/s/1/trace?execution=e'],
])('%s contains %s and leaves %j', (hash, token, rest) =>
  expect(tokenIn(hash)).toEqual({ token, hash: rest }),
);

it.each(['', '#/', '#/s/token', '#token=', '#mytoken=1'])('%j contains none', (hash) =>
  expect(tokenIn(hash)).toBeNull(),
);

it.each([
  [' abc ', 'abc'],
  ['http://127.0.0.1:4111/#token=abc', 'abc'],
  ['', ''],
])('pasted %j is %j', (text, token) => expect(pastedToken(text)).toBe(token));

describe('tokenKeeper', () => {
  const place = (hash: string, storage: Map<string, string> | null) => {
    const location = { hash, pathname: '/console/', search: '?a=1' };
    const seen: string[] = [];
    const keeper = tokenKeeper({
      location,
      history: { replaceState: (_data, _title, url) => void seen.push(String(url)) },
      storage: storage && {
        getItem: (key) => storage.get(key) ?? null,
        setItem: (key, value) => void storage.set(key, value),
        removeItem: (key) => void storage.delete(key),
      },
    });
    return { keeper, seen };
  };

  it('removes the token from the URL and stores it for the next visit', () => {
    const storage = new Map<string, string>();
    const { keeper, seen } = place('#token=abc', storage);
    expect(keeper.take()).toBe(true);
    expect(seen).toEqual(['/console/?a=1']);
    expect(keeper.get()).toBe('abc');
    expect(place('#/', storage).keeper.get()).toBe('abc');
  });
  it('does not change a URL without a token', () => {
    const { keeper, seen } = place('#/s/1', new Map());
    expect(keeper.take()).toBe(false);
    expect(seen).toEqual([]);
    expect(keeper.get()).toBeNull();
  });
  it('works in a browser without storage', () => {
    const { keeper } = place('#token=abc', null);
    keeper.take();
    expect(keeper.get()).toBe('abc');
  });
});
