import { describe, expect, it } from 'vitest';
import { AgentError, invalidOption, positive, show } from './agent-error.ts';

describe('AgentError', () => {
  it('has a code, a message, details and a native cause', () => {
    const cause = new Error('disk');
    const error = new AgentError('invalid_state', 'It is broken.', { cause, details: { at: 3 } });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'AgentError',
      code: 'invalid_state',
      message: 'It is broken.',
      details: { at: 3 },
      cause,
    });
    expect(new AgentError('invalid_state', 'x').details).toEqual({});
    expect('cause' in new AgentError('invalid_state', 'x')).toBe(false);
  });

  it('is detected by name and code, across installs and realms', () => {
    const error = new AgentError('no_new_message', 'x');
    const foreign = { name: 'AgentError', code: 'no_new_message', message: 'x' };
    for (const one of [error, foreign]) {
      expect(AgentError.is(one)).toBe(true);
      expect(AgentError.is(one, 'no_new_message')).toBe(true);
      expect(AgentError.is(one, 'invalid_state')).toBe(false);
    }
    for (const other of [new Error('x'), null, undefined, 'AgentError', 5, {}])
      expect(AgentError.is(other)).toBe(false);
  });

  it('D43: hides secrets in its message', () => {
    const secret = 'sk-live-0123456789abcdefghij';
    const error = new AgentError('invalid_option', `withModel got "${secret}", {"token":"abc"}`);
    expect(error.message).toBe('withModel got "[redacted]", {"token":"[redacted]"}');
    expect(error.stack).not.toContain(secret);
  });
});

describe('show', () => {
  const jwt = `eyJhbGciOiJIUzI1NiJ9.${'a'.repeat(100)}.${'b'.repeat(43)}`;

  it.each<[unknown, string]>([
    ['short', '"short"'],
    ['x'.repeat(100), `"${'x'.repeat(79)}…"`],
    [5, '5'],
    [null, 'null'],
    [undefined, 'undefined'],
    [true, 'true'],
    [() => 1, 'a function'],
    [[1, 2], 'an array of 2'],
    [{}, 'an empty object'],
    [{ name: 'bob', password: 'hunter2' }, 'an object with name, password'],
    [jwt, '"[redacted]"'],
  ])('%s', (value, text) => {
    expect(show(value)).toBe(text);
  });
});

describe('options', () => {
  it('names the option, its value and what was expected', () => {
    const error = invalidOption('withMaxSteps', 0, 'a finite number above 0');
    expect(error.message).toBe('withMaxSteps got 0, expected a finite number above 0.');
    expect(error).toMatchObject({
      code: 'invalid_option',
      details: { option: 'withMaxSteps', expected: 'a finite number above 0' },
    });
  });

  it.each([1, 0.5, Number.MAX_SAFE_INTEGER])('%d is positive', (value) => {
    expect(positive('x', value)).toBe(value);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', null, undefined])(
    '%s is not',
    (value) => {
      expect(() => positive('x', value as number)).toThrow(/^x got .*, expected a finite number/);
    },
  );
});
