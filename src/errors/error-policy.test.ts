import { describe, expect, it } from 'vitest';
import { ErrorContext } from './error-context.ts';
import { backoffMs, ErrorPolicy, stricter } from './error-policy.ts';
import { ErrorHandlingDecision, ErrorType, errorTypes } from './error-type.ts';

const failure = (more: Partial<ErrorContext> = {}): ErrorContext => ({
  ...ErrorContext.none(),
  type: 'tool',
  consecutiveFailures: 1,
  totalFailures: 1,
  message: 'boom',
  ...more,
});

const modelFailure = (more: Partial<ErrorContext> = {}): ErrorContext =>
  failure({ type: 'rate_limit', modelCall: true, ...more });

describe('error types and decisions', () => {
  it('have their persisted values', () => {
    expect(ErrorType).toEqual({
      Tool: 'tool',
      Model: 'model',
      Validation: 'validation',
      RateLimit: 'rate_limit',
      Timeout: 'timeout',
      Unknown: 'unknown',
    });
    expect(ErrorHandlingDecision).toEqual({ Stop: 'stop', Retry: 'retry', Ignore: 'ignore' });
  });
});

describe('ErrorPolicy presets', () => {
  it('D59: equal the table of the contract', () => {
    const row = ({ on, maxRetries }: ErrorPolicy) => [
      ...errorTypes.map((type) => on[type]),
      maxRetries,
    ];
    expect(errorTypes).toEqual(['tool', 'model', 'validation', 'rate_limit', 'timeout', 'unknown']);
    expect({
      'stopOnAnyError()': row(ErrorPolicy.stopOnAnyError()),
      'retryToolErrors()': row(ErrorPolicy.retryToolErrors()),
      'retryToolErrors(7)': row(ErrorPolicy.retryToolErrors(7)),
      'ignoreToolErrors()': row(ErrorPolicy.ignoreToolErrors()),
      'retryAll()': row(ErrorPolicy.retryAll()),
      'retryAll(1)': row(ErrorPolicy.retryAll(1)),
    }).toMatchInlineSnapshot(`
      {
        "ignoreToolErrors()": [
          "ignore",
          "stop",
          "ignore",
          "retry",
          "retry",
          "stop",
          3,
        ],
        "retryAll()": [
          "retry",
          "retry",
          "retry",
          "retry",
          "retry",
          "retry",
          5,
        ],
        "retryAll(1)": [
          "retry",
          "retry",
          "retry",
          "retry",
          "retry",
          "retry",
          1,
        ],
        "retryToolErrors()": [
          "retry",
          "stop",
          "retry",
          "retry",
          "retry",
          "stop",
          3,
        ],
        "retryToolErrors(7)": [
          "retry",
          "stop",
          "retry",
          "retry",
          "retry",
          "stop",
          7,
        ],
        "stopOnAnyError()": [
          "stop",
          "stop",
          "stop",
          "stop",
          "stop",
          "stop",
          0,
        ],
      }
    `);
  });

  it('production() retries every type but unknown, and counts model and tools apart', () => {
    const { on, maxRetries } = ErrorPolicy.production();
    expect(on).toEqual({ ...ErrorPolicy.retryAll().on, unknown: 'stop' });
    expect(maxRetries).toEqual({ model: 4, tool: 5 });
    expect(ErrorPolicy.from(ErrorPolicy.production().toJSON())).toEqual(ErrorPolicy.production());
  });

  it('share one backoff: half a second, doubled up to 30 seconds, half of it random', () => {
    for (const policy of [ErrorPolicy.stopOnAnyError(), ErrorPolicy.retryAll()])
      expect(policy.backoff).toEqual({ initialMs: 500, factor: 2, maxMs: 30_000, jitter: 0.5 });
  });
});

describe('ErrorPolicy.evaluate', () => {
  it.each([
    ErrorPolicy.stopOnAnyError(),
    ErrorPolicy.retryToolErrors(),
    ErrorPolicy.ignoreToolErrors(),
    ErrorPolicy.retryAll(0),
  ])('never stop without a failure', (policy) => {
    expect(policy.evaluate(ErrorContext.none())).toBe('ignore');
    expect(policy.evaluate({ ...ErrorContext.none(), totalFailures: 9 })).toBe('ignore');
  });

  it.each<[number, number, ErrorHandlingDecision, string]>([
    [1, 3, 'retry', 'the first failure leaves three retries'],
    [3, 3, 'retry', 'the third failure leaves one'],
    [4, 3, 'stop', 'all three retries are used'],
    [9, 3, 'stop', 'long past'],
    [1, 0, 'stop', 'no retries'],
    [1, 1, 'retry', 'one retry is left'],
    [2, 1, 'stop', 'the only retry is used'],
  ])('%d failures in a row with maxRetries %d: %s (%s)', (consecutiveFailures, max, expected) => {
    const policy = ErrorPolicy.retryAll(max);
    expect(policy.evaluate(failure({ consecutiveFailures }))).toBe(expected);
  });

  it('counts failures in a row, not in total', () => {
    const policy = ErrorPolicy.retryAll(2);
    expect(policy.evaluate(failure({ consecutiveFailures: 1, totalFailures: 40 }))).toBe('retry');
  });

  it('does not count failures for ignore and stop', () => {
    const policy = ErrorPolicy.ignoreToolErrors();
    expect(policy.evaluate(failure({ consecutiveFailures: 50 }))).toBe('ignore');
    expect(policy.evaluate(failure({ type: 'unknown' }))).toBe('stop');
  });

  it.each<[string, ErrorContext, ErrorHandlingDecision]>([
    ['a failed model call cannot be ignored', modelFailure(), 'retry'],
    ['its retries are limited too', modelFailure({ consecutiveFailures: 4 }), 'stop'],
    [
      'an error that is not retryable stops immediately',
      modelFailure({ retryable: false }),
      'stop',
    ],
    ['a tool error is ignored', failure({ type: 'rate_limit' }), 'ignore'],
    [
      'retryable applies to model calls only',
      failure({ type: 'rate_limit', retryable: false }),
      'ignore',
    ],
  ])('with rate_limit ignored: %s', (_why, context, expected) => {
    const policy = ErrorPolicy.retryToolErrors(3).withHandling('rate_limit', 'ignore');
    expect(policy.evaluate(context)).toBe(expected);
  });

  it('retryable: false stops a failed model call, but not a tool error', () => {
    const policy = ErrorPolicy.retryAll();
    expect(policy.evaluate(modelFailure({ retryable: false }))).toBe('stop');
    expect(policy.evaluate(failure({ retryable: false }))).toBe('retry');
  });
});

describe('modifiers', () => {
  const base = ErrorPolicy.retryToolErrors(3);

  it('withMaxRetries', () => {
    expect(base.withMaxRetries(9)).toEqual({ ...base, maxRetries: 9 });
  });

  it('withHandling changes one type', () => {
    expect(base.withHandling('model', 'retry').on).toEqual({ ...base.on, model: 'retry' });
  });

  it('withToolErrorHandling changes tool errors and nothing else', () => {
    expect(base.withToolErrorHandling('ignore').on).toEqual({ ...base.on, tool: 'ignore' });
  });

  it('withBackoff changes only the given fields', () => {
    expect(base.withBackoff({ initialMs: 10, jitter: 0 }).backoff).toEqual({
      initialMs: 10,
      factor: 2,
      maxMs: 30_000,
      jitter: 0,
    });
  });

  it('never change the original policy', () => {
    const before = JSON.stringify(base);
    base.withMaxRetries(9).withHandling('model', 'retry').withBackoff({ maxMs: 1 });
    expect(JSON.stringify(base)).toBe(before);
    expect(Object.isFrozen(base)).toBe(true);
    expect(Object.isFrozen(base.on)).toBe(true);
    expect(Object.isFrozen(base.backoff)).toBe(true);
  });
});

describe('as data', () => {
  it('has exactly the fields of its JSON, and from() restores its methods', () => {
    const policy = ErrorPolicy.retryAll(2).withBackoff({ initialMs: 1 });
    const json = JSON.parse(JSON.stringify(policy)) as ReturnType<typeof policy.toJSON>;
    expect(Object.keys(policy)).toEqual(['on', 'maxRetries', 'backoff']);
    expect(ErrorPolicy.from(json)).toEqual(policy);
    expect(ErrorPolicy.from(json).evaluate(failure())).toBe('retry');
    expect(ErrorPolicy.from(policy)).toBe(policy);
  });

  it('fills in missing fields: stop, no retries', () => {
    expect(ErrorPolicy.from({ on: { tool: 'ignore' } as never })).toEqual(
      ErrorPolicy.stopOnAnyError().withToolErrorHandling('ignore'),
    );
  });

  it.each<[string, () => unknown, string]>([
    ['a negative count', () => ErrorPolicy.retryAll(-1), 'ErrorPolicy.maxRetries got -1'],
    ['a fraction', () => ErrorPolicy.retryToolErrors(1.5), 'ErrorPolicy.maxRetries got 1.5'],
    [
      'an infinite count',
      () => ErrorPolicy.retryAll(Infinity),
      'ErrorPolicy.maxRetries got Infinity',
    ],
    [
      'an unknown type',
      () => ErrorPolicy.retryAll().withHandling('network' as never, 'retry'),
      'ErrorPolicy.on got "network", expected one of tool, model, validation, rate_limit, timeout, unknown',
    ],
    [
      'an unknown decision',
      () => ErrorPolicy.retryAll().withHandling('tool', 'skip' as never),
      'ErrorPolicy.on.tool got "skip", expected one of stop, retry, ignore',
    ],
    [
      'a negative wait',
      () => ErrorPolicy.retryAll().withBackoff({ initialMs: -1 }),
      'ErrorPolicy.backoff.initialMs got -1',
    ],
    [
      'a jitter above 1',
      () => ErrorPolicy.retryAll().withBackoff({ jitter: 2 }),
      'ErrorPolicy.backoff.jitter got 2',
    ],
    ['nothing', () => ErrorPolicy.from(null as never), 'ErrorPolicy.from got null'],
    ['a name', () => ErrorPolicy.from('retryAll' as never), 'ErrorPolicy.from got "retryAll"'],
    [
      'a preset that was not called',
      () => ErrorPolicy.from(ErrorPolicy.retryAll as never),
      'ErrorPolicy.from got a function',
    ],
  ])('rejects %s', (_what, make, message) => {
    expect(make).toThrowError(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining(message),
      }),
    );
  });
});

describe('strictness', () => {
  it.each<[ErrorHandlingDecision, ErrorHandlingDecision, boolean]>([
    ['stop', 'retry', true],
    ['stop', 'ignore', true],
    ['retry', 'ignore', true],
    ['retry', 'stop', false],
    ['ignore', 'retry', false],
    ['stop', 'stop', false],
  ])('%s is stricter than %s: %s', (a, b, expected) => {
    expect(stricter(a, b)).toBe(expected);
  });
});

describe('backoffMs', () => {
  const { backoff } = ErrorPolicy.retryAll();

  it.each<[number, number, number, string]>([
    [1, 0, 500, 'the first wait is half a second'],
    [2, 0, 1_000, 'then it doubles'],
    [3, 0, 2_000, 'and again'],
    [7, 0, 30_000, 'up to half a minute'],
    [50, 0, 30_000, 'the maximum'],
    [1, 1, 250, 'at most half of it is random'],
    [1, 0.5, 375, 'in between'],
    [7, 1, 15_000, 'also at the maximum'],
  ])('after %d failures with random %d: %d ms (%s)', (failures, random, expected) => {
    expect(backoffMs(backoff, failures, random)).toBe(expected);
  });
});

describe('ErrorContext.none', () => {
  it('is zeroed', () => {
    expect(ErrorContext.none()).toEqual({
      type: 'unknown',
      modelCall: false,
      consecutiveFailures: 0,
      totalFailures: 0,
      retryable: true,
      metadata: {},
    });
  });
});
