import { describe, expect, it } from 'vitest';
import { isErrorBody, providerError } from './provider-error.ts';

const now = Date.parse('2026-01-16T12:00:00.000Z');
const read = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  providerError(status, headers, typeof body === 'string' ? body : JSON.stringify(body), now);

const error = (message: string, more: Record<string, unknown> = {}) => ({
  error: { message, ...more },
});

describe('what a refusal means', () => {
  it.each<[string, number, unknown, string, string, boolean]>([
    [
      'OpenAI: bad key',
      401,
      error('Incorrect API key provided', { code: 'invalid_api_key' }),
      'model',
      'auth',
      false,
    ],
    ['Mistral: { detail }', 401, { detail: 'Invalid API Key' }, 'model', 'auth', false],
    [
      'Gemini: a bad key is a 400',
      400,
      error('API key not valid.', {
        status: 'INVALID_ARGUMENT',
        details: [{ reason: 'API_KEY_INVALID' }],
      }),
      'model',
      'auth',
      false,
    ],
    [
      'xAI: a bad key is a 400 with a text',
      400,
      { code: 'invalid-argument', error: 'Incorrect API key provided.' },
      'model',
      'auth',
      false,
    ],
    ['no right to it', 403, error('Forbidden'), 'model', 'auth', false],
    [
      'OpenRouter: moderation is no matter of keys',
      403,
      error('Your input was flagged by moderation'),
      'model',
      'invalid_request',
      false,
    ],
    [
      'OpenAI: quota is a 429 that no retry cures',
      429,
      error('You exceeded your current quota, please check your plan and billing details.', {
        code: 'insufficient_quota',
      }),
      'rate_limit',
      'quota',
      false,
    ],
    [
      'Anthropic: quota is a 400',
      400,
      error('Your credit balance is too low to access the API.', { type: 'invalid_request_error' }),
      'rate_limit',
      'quota',
      false,
    ],
    ['DeepSeek: 402', 402, error('Insufficient Balance'), 'rate_limit', 'quota', false],
    [
      'xAI: credits',
      403,
      { error: 'Your team has used all available credits or reached its spending limit.' },
      'rate_limit',
      'quota',
      false,
    ],
    [
      'Gemini: a quota with a time to come back is a rate limit',
      429,
      error('You exceeded your current quota, please check your plan and billing details.', {
        status: 'RESOURCE_EXHAUSTED',
        details: [{ retryDelay: '37s' }],
      }),
      'rate_limit',
      'rate_limit',
      true,
    ],
    [
      'OpenAI: a rate limit that names the page about billing',
      429,
      error(
        'Rate limit reached. You can increase it at https://platform.openai.com/account/billing.',
        { code: 'rate_limit_exceeded' },
      ),
      'rate_limit',
      'rate_limit',
      true,
    ],
    ['429 without a word', 429, '', 'rate_limit', 'rate_limit', true],
    [
      'Groq: too large for the minute',
      413,
      error('Request too large', { code: 'rate_limit_exceeded' }),
      'rate_limit',
      'rate_limit',
      true,
    ],
    [
      'Anthropic: 529',
      529,
      error('Overloaded', { type: 'overloaded_error' }),
      'rate_limit',
      'overloaded',
      true,
    ],
    [
      'Gemini: 503',
      503,
      error('The model is overloaded. Please try again later.', { status: 'UNAVAILABLE' }),
      'rate_limit',
      'overloaded',
      true,
    ],
    [
      'llama.cpp: still loading',
      503,
      error('Loading model', { type: 'unavailable_error', code: 503 }),
      'rate_limit',
      'overloaded',
      true,
    ],
    [
      'a page of a proxy',
      503,
      '<html><head><title>503 Service Temporarily Unavailable</title></head></html>',
      'rate_limit',
      'overloaded',
      true,
    ],
    [
      'OpenRouter: nobody serves this model',
      503,
      error('No allowed providers for the selected model.'),
      'model',
      'server',
      true,
    ],
    [
      'context: by its code',
      400,
      error('Too long', { code: 'context_length_exceeded' }),
      'model',
      'context_length',
      false,
    ],
    [
      'DeepSeek: context by its words alone',
      400,
      error("This model's maximum context length is 100 tokens.", {
        code: 'invalid_request_error',
      }),
      'model',
      'context_length',
      false,
    ],
    [
      'Anthropic: prompt is too long',
      400,
      error('prompt is too long: 200 tokens > 100 maximum'),
      'model',
      'context_length',
      false,
    ],
    [
      'Gemini: input token count',
      400,
      error('The input token count (9) exceeds the maximum number of tokens allowed (5).'),
      'model',
      'context_length',
      false,
    ],
    [
      'llama.cpp: context size',
      400,
      error('the request exceeds the available context size', {
        type: 'exceed_context_size_error',
      }),
      'model',
      'context_length',
      false,
    ],
    [
      'xAI: prompt length',
      400,
      {
        error:
          "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
      },
      'model',
      'context_length',
      false,
    ],
    [
      'not found',
      404,
      error('The model `x` does not exist or you have no access; check your API key'),
      'model',
      'not_found',
      false,
    ],
    [
      'xAI: no such model is a 400',
      400,
      { code: 'invalid-argument', error: 'Model not found: x' },
      'model',
      'not_found',
      false,
    ],
    [
      'OpenRouter: no such model is a 400',
      400,
      error('x/y is not a valid model ID', { code: 400 }),
      'model',
      'not_found',
      false,
    ],
    [
      'OpenRouter: a word in the metadata',
      200,
      error('Provider returned error', { metadata: { error_type: 'rate_limit_exceeded' } }),
      'rate_limit',
      'rate_limit',
      true,
    ],
    [
      'Fireworks: NOT_FOUND',
      404,
      error('Model not found', { code: 'NOT_FOUND' }),
      'model',
      'not_found',
      false,
    ],
    [
      'Groq: tool_use_failed',
      400,
      error('Failed to call a function.', { code: 'tool_use_failed' }),
      'validation',
      'tool_use_failed',
      false,
    ],
    ['408', 408, '', 'timeout', 'timeout', true],
    [
      '504',
      504,
      '<html><head><title>504 Gateway Time-out</title></head></html>',
      'timeout',
      'timeout',
      true,
    ],
    ['Cloudflare: 524', 524, 'error code: 524', 'timeout', 'timeout', true],
    [
      '499',
      499,
      error('The operation was cancelled.', { status: 'CANCELLED' }),
      'timeout',
      'cancelled',
      true,
    ],
    ['500', 500, error('The server had an error'), 'model', 'server', true],
    [
      '502 with a page',
      502,
      '<html>\r\n<head><title>502 Bad Gateway</title></head></html>',
      'model',
      'server',
      true,
    ],
    [
      'a 500 that speaks of keys is no matter of keys',
      500,
      error('upstream authentication failed'),
      'model',
      'server',
      true,
    ],
    ['400', 400, error('Unknown parameter'), 'model', 'invalid_request', false],
    [
      '422 of FastAPI',
      422,
      { detail: [{ loc: ['body', 'n'], msg: 'field required' }] },
      'model',
      'invalid_request',
      false,
    ],
    [
      'in HTTP 200: by the code in the body',
      200,
      error('Provider returned error', { code: 502 }),
      'model',
      'server',
      true,
    ],
    [
      'in HTTP 200: a code as text',
      200,
      error('slow down', { code: '429' }),
      'rate_limit',
      'rate_limit',
      true,
    ],
    [
      'in HTTP 200: by its words',
      200,
      error('Rate limit reached'),
      'rate_limit',
      'rate_limit',
      true,
    ],
    [
      'in HTTP 200: by its type',
      200,
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      'rate_limit',
      'overloaded',
      true,
    ],
    [
      'in HTTP 200: a bad request',
      200,
      error('bad', { type: 'invalid_request_error' }),
      'model',
      'invalid_request',
      false,
    ],
    ['in HTTP 200: timed out', 200, error('Upstream timed out'), 'timeout', 'timeout', true],
    ['in HTTP 200: Go servers', 200, error('context canceled'), 'timeout', 'cancelled', true],
    [
      'in HTTP 200: anything else',
      200,
      error('stream_read_error', { type: 'upstream_error' }),
      'model',
      'server',
      true,
    ],
  ])('%s', (_what, status, body, type, code, retryable) => {
    expect(read(status, body)).toMatchObject({ type, code, retryable });
  });

  it('a provider that says not to retry is believed', () => {
    expect(read(500, error('no'), { 'x-should-retry': 'false' }).retryable).toBe(false);
    expect(read(500, error('no'), { 'x-should-retry': 'true' }).retryable).toBe(true);
  });

  it.each<[number, unknown, number | undefined, string]>([
    [429, error('x'), 429, 'the transport tells'],
    [200, error('x', { code: 502 }), 502, 'the body tells'],
    [200, error('x', { status_code: 400 }), 400, 'the body tells under another name'],
    [200, { statusCode: 429, message: 'x' }, 429, 'the body tells without an error object'],
    [200, error('x', { code: '1500' }), undefined, 'a number that is no status'],
    [200, error('x'), undefined, 'nobody tells'],
  ])('status %s with %j -> %s (%s)', (status, body, expected) => {
    expect(read(status, body).status).toBe(expected);
  });
});

describe('what a refusal says', () => {
  it.each<[string, unknown, string]>([
    ['an object', error('said'), 'said'],
    ['a text', { error: 'said' }, 'said'],
    ['a list of errors', [{ error: { message: 'said' } }], 'said'],
    ['detail', { detail: 'said' }, 'said'],
    ['a list of details', { detail: [{ msg: 'a' }, { msg: 'b' }] }, 'a; b'],
    [
      'a message with details in it',
      { object: 'error', message: { detail: [{ msg: 'said' }] } },
      'said',
    ],
    ['errors', { errors: [{ message: 'said', code: 3043 }], success: false }, 'said'],
    ['a message alone', { statusCode: 429, message: 'said' }, 'said'],
    ['MiniMax', { base_resp: { status_code: 1004, status_msg: 'said' } }, 'said'],
    [
      'inside a choice',
      { choices: [{ error: { code: 502, message: 'said' }, finish_reason: 'error' }] },
      'said',
    ],
    ['an error without a word, beside a message', { error: {}, message: 'said' }, 'said'],
    [
      'a page',
      '<html><head><title>502 Bad Gateway</title></head><body>x</body></html>',
      '502 Bad Gateway',
    ],
    ['a page without a title', '<p>Bad</p><p>Gateway</p>', 'Bad Gateway'],
    ['a bare line', 'upstream connect error', 'upstream connect error'],
    ['in the framing of a stream', 'event: error\ndata: {"error":{"message":"said"}}\n\n', 'said'],
    ['a JSON text', '"said"', 'said'],
    ['nothing', '', 'The provider refused with status 500.'],
    ['an empty object', {}, 'The provider refused with status 500.'],
  ])('%s', (_what, body, message) => {
    expect(read(500, body).message).toBe(message);
  });

  it('a message of a whole prompt is cut', () => {
    expect(read(400, error('x'.repeat(50_000))).message.length).toBeLessThan(2_100);
  });
});

describe('isErrorBody', () => {
  it.each<[unknown, boolean, string]>([
    [error('x'), true, 'an error'],
    [{ error: 'x' }, true, 'a text'],
    [[error('x')], true, 'in a list'],
    [{ error: {} }, true, 'an empty one and nothing else'],
    [{ type: 'error', message: 'x' }, true, 'by its type'],
    [{ object: 'error', message: 'x' }, true, 'vLLM'],
    [{ choices: [{ error: { message: 'x' } }] }, true, 'inside a choice'],
    [{ error: { message: 'x' }, choices: [{ delta: {} }] }, true, 'beside choices'],
    [{ error: null, choices: [] }, false, 'null is none'],
    [{ error: '', choices: [] }, false, 'an empty text is none'],
    [{ error: {}, choices: [{}] }, false, 'an empty object beside an answer is none'],
    [{ error: false, choices: [] }, false, 'false is none'],
    [{ choices: [] }, false, 'an answer'],
    ['error', false, 'no object'],
    [[], false, 'an empty list'],
  ])('%j -> %s (%s)', (body, expected) => {
    expect(isErrorBody(body)).toBe(expected);
  });
});
