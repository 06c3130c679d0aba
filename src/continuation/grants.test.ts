import { describe, expect, it } from 'vitest';
import { addGrants, checkedGrant, grantKinds } from './grants.ts';

describe('grants', () => {
  it('have five kinds', () => {
    expect(grantKinds).toEqual(['steps', 'tokens', 'cost', 'seconds', 'retries']);
  });

  it.each(grantKinds)('accepts a whole amount above 0 for %s', (kind) => {
    expect(checkedGrant({ [kind]: 2 })).toEqual({ [kind]: 2 });
  });

  it.each(['tokens', 'cost', 'seconds'])('accepts a fraction for %s', (kind) => {
    expect(checkedGrant({ [kind]: 0.5 })).toEqual({ [kind]: 0.5 });
  });

  it.each<[unknown, string]>([
    [{ steps: 0.5 }, '{ steps: 0.5 }, expected a whole number of steps.'],
    [{ steps: 2.000_001 }, '{ steps: 2.000001 }, expected a whole number of steps.'],
    [{ retries: 1.5 }, '{ retries: 1.5 }, expected a whole number of retries.'],
    [{ steps: 1e300 }, '{ steps: 1e+300 }, expected a whole number of steps.'],
    [{ tokens: 1e300 }, '{ tokens: 1e+300 }, expected at most 9007199254740991.'],
  ])('rejects %j: %s', (grant, message) => {
    expect(() => checkedGrant(grant)).toThrowError(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining(message),
      }),
    );
  });

  it.each<[unknown, string, string]>([
    [null, 'got grant null', 'null is not a grant'],
    [5, 'got grant 5', 'a number without a kind'],
    [{}, 'got grant an empty object', 'an empty grant extends nothing'],
    [[], 'got grant an array of 0', 'an array is not a grant'],
    [{ steps: 0 }, '{ steps: 0 }', 'zero extends nothing'],
    [{ steps: -3 }, '{ steps: -3 }', 'a grant cannot be negative'],
    [
      { tokens: Number.POSITIVE_INFINITY },
      '{ tokens: Infinity }',
      'an infinite grant would remove the limit',
    ],
    [{ seconds: Number.NaN }, '{ seconds: NaN }', 'not a number'],
    [{ steps: '5' }, '{ steps: "5" }', 'a string is not an amount'],
    [{ turns: 5 }, '{ turns: 5 }', 'an unknown kind must not be ignored silently'],
    [{ steps: 5, minutes: 1 }, '{ minutes: 1 }', 'one unknown kind makes the grant invalid'],
  ])('rejects %j: %s (%s)', (grant, seen) => {
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

  it('are added by kind into a new frozen value', () => {
    const first = addGrants({}, { steps: 2 });
    const second = addGrants(first, { steps: 3, seconds: 10 });
    expect(first).toEqual({ steps: 2 });
    expect(second).toEqual({ steps: 5, seconds: 10 });
    expect(Object.isFrozen(second)).toBe(true);
  });

  it('have a sum that JSON can store', () => {
    const most = Number.MAX_SAFE_INTEGER;
    expect(addGrants({ tokens: most }, { tokens: most })).toEqual({ tokens: most });
  });
});
