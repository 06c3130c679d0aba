import { describe, expect, it } from 'vitest';
import { readFailure } from '../inference-error.ts';
import { aiSdkError } from './ai-sdk-error.ts';

const named = (name: string, more: Record<string, unknown> = {}): Error =>
  Object.assign(new Error('said'), { name, ...more });
const read = (thrown: unknown) => readFailure(aiSdkError(thrown, 0, { content: 'a' }));

describe('errors of AI SDK packages', () => {
  it.each<[string, unknown, Record<string, unknown>]>([
    [
      'a refusal',
      named('AI_APICallError', {
        statusCode: 429,
        responseBody: '{"error":{"message":"slow"}}',
        responseHeaders: { 'Retry-After': '2' },
      }),
      { type: 'rate_limit', message: 'slow', status: 429, retryAfterMs: 2000 },
    ],
    [
      'a refusal without body',
      named('AI_APICallError', { statusCode: 500 }),
      { type: 'model', code: 'server', message: 'said' },
    ],
    [
      'a 503 that mentions overload',
      named('AI_APICallError', {
        statusCode: 503,
        responseBody: '{"error":{"message":"The model is overloaded."}}',
      }),
      { type: 'rate_limit', code: 'overloaded', status: 503 },
    ],
    [
      'a 503 that does not',
      named('AI_APICallError', {
        statusCode: 503,
        responseBody: '{"error":{"message":"Service unavailable, try again"}}',
        responseHeaders: { 'Retry-After': '2' },
      }),
      { type: 'model', code: 'server', status: 503, retryable: true, retryAfterMs: 2000 },
    ],
    ['503 without body', named('AI_APICallError', { statusCode: 503 }), { type: 'model' }],
    [
      'a 503 without body, overloaded by its message',
      named('AI_APICallError', { statusCode: 503, message: 'Overloaded' }),
      { type: 'rate_limit', code: 'overloaded' },
    ],
    [
      'an error inside HTTP 200',
      named('AI_APICallError', {
        statusCode: 200,
        responseBody: '{"error":{"code":502,"message":"gone"}}',
      }),
      { code: 'server', status: 502, message: 'gone' },
    ],
    [
      'a body that cannot be read',
      named('AI_APICallError', { statusCode: 200, responseBody: '{"a":1}' }),
      { type: 'validation', code: 'unreadable_body' },
    ],
    [
      'no connection',
      named('AI_APICallError', {
        cause: new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }),
      }),
      { type: 'timeout', message: 'The connection to the model failed: connect ECONNREFUSED' },
    ],
    ['invalid JSON', named('AI_JSONParseError'), { type: 'validation', code: 'unreadable_body' }],
    ['JSON of another shape', named('AI_TypeValidationError'), { type: 'validation' }],
    [
      'an error instead of an answer',
      named('AI_TypeValidationError', { value: { error: { code: 503, message: 'overloaded' } } }),
      { type: 'rate_limit', code: 'overloaded' },
    ],
    [
      'an error instead of an answer, as text',
      named('AI_JSONParseError', { text: '{"error":{"code":502,"message":"gone"}}' }),
      { status: 502 },
    ],
    [
      'a package that fails to parse',
      new TypeError("Cannot read properties of undefined (reading '0')"),
      { type: 'validation', code: 'unreadable_body' },
    ],
    ['no key', named('AI_LoadAPIKeyError'), { type: 'model', code: 'auth', retryable: false }],
    [
      'an unknown model',
      named('AI_NoSuchModelError'),
      { type: 'model', code: 'not_found', retryable: false },
    ],
    [
      'an unsupported feature',
      named('AI_UnsupportedFunctionalityError'),
      { type: 'model', code: 'invalid_request', retryable: false },
    ],
    [
      'a broken stream',
      new TypeError('terminated'),
      { type: 'timeout', code: 'connection_failed' },
    ],
    [
      'an error object of a stream',
      { type: 'overloaded_error', message: 'Overloaded' },
      { type: 'rate_limit', code: 'overloaded' },
    ],
    ['an error object in an error', { error: { message: 'gone', code: 502 } }, { status: 502 }],
    ['a text', 'rate limit reached', { type: 'rate_limit', message: 'rate limit reached' }],
    ['nothing', undefined, { type: 'model', code: 'server' }],
  ])('%s', (_what, thrown, expected) => {
    const { report, partial } = read(thrown);
    expect(report).toMatchObject(expected);
    expect(partial).toEqual({ content: 'a' });
  });

  it.each<[string, unknown]>([
    ['a text that is no JSON', named('AI_JSONParseError', { text: 'Bad gateway of Acme' })],
    ['a value of another type', named('AI_TypeValidationError', { value: { said: 'Acme' } })],
    ['data', named('AI_InvalidResponseDataError', { data: { said: 'Acme' } })],
    ['a body', named('AI_APICallError', { statusCode: 200, responseBody: '{"said":"Acme"}' })],
  ])('say what was in an answer that a package rejected: %s', (_what, thrown) => {
    const { report } = read(thrown);
    expect(report).toMatchObject({ type: 'validation', code: 'unreadable_body' });
    expect(report.message).toMatch(/^said The answer was: .*Acme/);
  });

  it('show neither a long answer in full nor what the reason repeats', () => {
    const long = read(named('AI_JSONParseError', { text: 'x'.repeat(100_000) })).report.message;
    expect(long.length).toBeLessThan(1_200);
    const error = Object.assign(new Error('Text: Acme'), { name: 'AI_JSONParseError' });
    const { report } = read(Object.assign(error, { text: 'Acme' }));
    expect(report.message).toBe('Text: Acme');
  });

  it('drops the request that such an error contains', () => {
    const thrown = named('AI_APICallError', {
      statusCode: 400,
      requestBodyValues: { messages: ['private'] },
    });
    expect(aiSdkError(thrown, 0).cause).toBeUndefined();
  });
});
