import { describe, expect, it } from 'vitest';
import { AgentError } from '../errors/agent-error.ts';
import { modelCallFailed, readFailure } from './inference-error.ts';

describe('readFailure', () => {
  it('returns the arguments of modelCallFailed', () => {
    const report = { type: 'rate_limit', code: 'too_many', message: 'slow down' } as const;
    const partial = { usage: { input: 3 }, cost: 0.5 };
    const cause = new Error('socket');
    const failed = modelCallFailed(report, partial, { cause });
    expect(AgentError.is(failed, 'model_call_failed')).toBe(true);
    expect(failed.message).toBe('slow down');
    expect(failed.cause).toBe(cause);
    expect(readFailure(failed)).toEqual({ report, partial });
  });

  it.each<[string, unknown, string]>([
    ['an error', new Error('boom'), 'boom'],
    ['an error without a message', new TypeError(), 'TypeError'],
    ['a text', 'boom', 'boom'],
    ['an object', { status: 500 }, '{"status":500}'],
    ['nothing', undefined, 'undefined'],
    ['an AgentError with another code', new AgentError('invalid_option', 'odd'), 'odd'],
  ])('reads %s as a failure of the model', (_case, thrown, message) => {
    expect(readFailure(thrown)).toEqual({
      report: { type: 'model', code: 'driver_failed', message },
      partial: {},
    });
  });
});
