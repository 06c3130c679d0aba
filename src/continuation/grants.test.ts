import { describe, expect, it } from 'vitest';
import { addGrants, checkedGrant, grantKinds } from './grants.ts';

describe('grants', () => {
  it('there are five kinds', () => {
    expect(grantKinds).toEqual(['steps', 'tokens', 'cost', 'seconds', 'retries']);
  });

  it.each(grantKinds)('%s: a whole amount above 0 is a grant', (kind) => {
    expect(checkedGrant({ [kind]: 2 })).toEqual({ [kind]: 2 });
  });

  it.each(['tokens', 'cost', 'seconds'])('%s: a part of one is a grant', (kind) => {
    expect(checkedGrant({ [kind]: 0.5 })).toEqual({ [kind]: 0.5 });
  });

  it.each<[unknown, string]>([
    [{ steps: 0.5 }, '{ steps: 0.5 }, expected a whole number of steps.'],
    [{ steps: 2.000_001 }, '{ steps: 2.000001 }, expected a whole number of steps.'],
    [{ retries: 1.5 }, '{ retries: 1.5 }, expected a whole number of retries.'],
    [{ steps: 1e300 }, '{ steps: 1e+300 }, expected a whole number of steps.'],
    [{ tokens: 1e300 }, '{ tokens: 1e+300 }, expected at most 9007199254740991.'],
  ])('%j is refused: %s', (grant, message) => {
    expect(() => checkedGrant(grant)).toThrowError(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining(message),
      }),
    );
  });

  it.each<[unknown, string, string]>([
    [null, 'got grant null', 'nothing is no grant'],
    [5, 'got grant 5', 'five of what?'],
    [{}, 'got grant an empty object', 'an empty grant extends nothing'],
    [[], 'got grant an array of 0', 'a list is no grant'],
    [{ steps: 0 }, '{ steps: 0 }', 'zero extends nothing'],
    [{ steps: -3 }, '{ steps: -3 }', 'a grant never takes away'],
    [{ tokens: Number.POSITIVE_INFINITY }, '{ tokens: Infinity }', 'no limit would be left'],
    [{ seconds: Number.NaN }, '{ seconds: NaN }', 'not a number'],
    [{ steps: '5' }, '{ steps: "5" }', 'text is no amount'],
    [{ turns: 5 }, '{ turns: 5 }', 'an unknown kind would be ignored silently'],
    [{ steps: 5, minutes: 1 }, '{ minutes: 1 }', 'one wrong kind spoils the grant'],
  ])('%j is refused: %s (%s)', (grant, seen) => {
    expect(() => checkedGrant(grant)).toThrowError(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining(seen),
      }),
    );
    expect(() => checkedGrant(grant)).toThrowError(
      'expected amounts above 0 for steps, tokens, cost, seconds, retries.',
    );
  });

  it('grants add up, kind by kind, into a new frozen value', () => {
    const first = addGrants({}, { steps: 2 });
    const second = addGrants(first, { steps: 3, seconds: 10 });
    expect(first).toEqual({ steps: 2 });
    expect(second).toEqual({ steps: 5, seconds: 10 });
    expect(Object.isFrozen(second)).toBe(true);
  });

  it('a sum stays a number that JSON can keep', () => {
    const most = Number.MAX_SAFE_INTEGER;
    expect(addGrants({ tokens: most }, { tokens: most })).toEqual({ tokens: most });
  });
});
