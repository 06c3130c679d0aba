import { describe, expect, it } from 'vitest';
import { ErrorContext } from './error-context.ts';
import { ErrorPolicy } from './error-policy.ts';

const failure = (more: Partial<ErrorContext> = {}): ErrorContext => ({
  ...ErrorContext.none(),
  type: 'tool',
  message: 'no',
  ...more,
});
const modelFailure = (more: Partial<ErrorContext> = {}): ErrorContext =>
  failure({ type: 'model', modelCall: true, ...more });

describe('retries for model calls and tools', () => {
  const apart = ErrorPolicy.retryAll().withMaxRetries({ model: 1, tool: 2 });

  it.each<[string, ErrorContext, number]>([
    ['a failed model call', modelFailure(), 1],
    ['a tool error', failure(), 2],
    ['a format mismatch', modelFailure({ countedAs: 'tool' }), 2],
  ])('%s', (_why, context, most) => {
    expect(apart.retriesFor(context)).toBe(most);
    expect(apart.evaluate({ ...context, consecutiveFailures: most })).toBe('retry');
    expect(apart.evaluate({ ...context, consecutiveFailures: most + 1 })).toBe('stop');
    expect(apart.withMoreRetries(3).retriesFor(context)).toBe(most + 3);
  });

  it('keeps the count that a change omits', () => {
    expect(apart.withMaxRetries({ tool: 7 }).maxRetries).toEqual({ model: 1, tool: 7 });
    expect(ErrorPolicy.retryAll(3).withMaxRetries({ model: 0 }).maxRetries).toEqual({
      model: 0,
      tool: 3,
    });
    expect(apart.withMaxRetries(4).maxRetries).toBe(4);
    expect(ErrorPolicy.from({ maxRetries: { tool: 2 } as never }).maxRetries).toEqual({
      model: 0,
      tool: 2,
    });
  });

  it.each([{ model: -1, tool: 0 }, { model: 1, tool: 0.5 }, { model: 1, tools: 1 }, 'often'])(
    'rejects %j',
    (maxRetries) => {
      expect(() => ErrorPolicy.retryAll().withMaxRetries(maxRetries as never)).toThrowError(
        expect.objectContaining({ code: 'invalid_option' }),
      );
    },
  );

  it('keeps the rules of tools through changes, and out of the JSON', () => {
    const rules = apart.forTools([{ name: 'search', maxRetries: 9 }, { name: 'plain' }]);
    const context = failure({ toolName: 'search' });
    for (const policy of [rules, rules.withMaxRetries(1), rules.withBackoff({ factor: 3 })])
      expect(policy.retriesFor(context)).toBe(9);
    expect(rules.withMoreRetries(2).retriesFor(context)).toBe(11);
    expect(rules).toEqual(apart);
    expect(rules.ruleFor(failure({ toolName: 'plain' }))).toBeUndefined();
    expect(apart.forTools([{ name: 'plain' }])).toBe(apart);
  });
});
