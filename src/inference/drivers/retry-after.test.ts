import { describe, expect, it } from 'vitest';
import { headerMap, retryAfterMs, waitOf } from './retry-after.ts';

const now = Date.parse('2026-01-16T12:00:00.000Z');

describe('waitOf', () => {
  it.each<[string | undefined, number | undefined, string]>([
    ['1', 1000, 'seconds'],
    ['59.5', 59_500, 'seconds with a fraction'],
    ['1.1', 1100, 'a fraction that floating point cannot hold'],
    ['6ms', 6, 'milliseconds'],
    ['8.64s', 8640, 'a duration'],
    ['1m13.5s', 73_500, 'a duration of two units'],
    ['25m54.826s', 1_554_826, 'a duration of two units'],
    ['2h', 7_200_000, 'hours'],
    ['1 minute 30 seconds', 90_000, 'units in words'],
    ['20 seconds', 20_000, 'units in words'],
    [String((now + 7000) / 1000), 7000, 'an epoch in seconds'],
    [String(now + 7000), 7000, 'an epoch in milliseconds'],
    ['Fri, 16 Jan 2026 12:00:05 GMT', 5000, 'an HTTP date'],
    ['2026-01-16T12:00:09Z', 9000, 'an ISO date'],
    ['Fri, 16 Jan 2026 11:59:00 GMT', undefined, 'a date in the past'],
    ['0', undefined, 'nothing to wait for'],
    ['-3', undefined, 'nothing to wait for'],
    ['', undefined, 'empty'],
    ['soon', undefined, 'not a time'],
    [undefined, undefined, 'absent'],
  ])('%j -> %s (%s)', (text, expected) => {
    expect(waitOf(text, now)).toBe(expected);
  });
});

describe('retryAfterMs', () => {
  it.each<[string, Record<string, string>, unknown, string | null, number | undefined]>([
    ['retry-after', { 'retry-after': '2' }, {}, null, 2000],
    [
      'retry-after-ms over seconds',
      { 'retry-after': '2', 'retry-after-ms': '1500' },
      {},
      null,
      1500,
    ],
    [
      'ignores a zero next to a real hint',
      { 'retry-after': '1', 'retry-after-ms': '0' },
      {},
      null,
      1000,
    ],
    ['Azure: x-ms-retry-after-ms', { 'x-ms-retry-after-ms': '700' }, {}, null, 700],
    ['OpenRouter: retry_after_seconds', {}, { metadata: { retry_after_seconds: 9 } }, null, 9000],
    ['Google: details[].retryDelay', {}, { details: [{}, { retryDelay: '37s' }] }, null, 37_000],
    ['Google: a fraction', {}, { details: [{ retryDelay: '37.25s' }] }, null, 37_250],
    ['Google: as an object', {}, { details: [{ retryDelay: { seconds: 4 } }] }, null, 4000],
    ['retry_after in the body, in seconds', {}, { retry_after: 3 }, null, 3000],
    ['retry_after_ms in the body', {}, { retry_after_ms: 250 }, null, 250],
    ['retryAfter in metadata', {}, { metadata: { retryAfter: '4s' } }, null, 4000],
    ['OpenAI: try again in', {}, {}, 'Rate limit. Please try again in 1.898s. Visit us.', 1898],
    ['OpenAI: minutes', {}, {}, 'Please try again in 6m0s.', 360_000],
    ['OpenAI: milliseconds', {}, {}, 'Please try again in 120ms.', 120],
    ['Azure: retry after', {}, {}, 'Please retry after 6 seconds.', 6000],
    ['Gemini: retry in', {}, {}, 'Please retry in 12.5s.', 12_500],
    ['a bare number is seconds', {}, {}, 'Please retry after 20', 20_000],
    ['text without a time', {}, {}, 'Please try again later, after 3 tries.', undefined],
    ['a number that is not a wait', {}, {}, 'You may retry 3 times.', undefined],
    ['a reset in seconds', { 'x-ratelimit-reset': '1' }, {}, null, 1000],
    ['a reset as epoch', { 'x-ratelimit-reset': String(now + 60_000) }, {}, null, 60_000],
    [
      'only the used-up limit counts',
      {
        'x-ratelimit-remaining-requests': '982',
        'x-ratelimit-reset-requests': '25m54.826s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '2.003s',
      },
      {},
      null,
      2003,
    ],
    [
      'the longer of two used-up limits',
      {
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '3s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '9s',
      },
      {},
      null,
      9000,
    ],
    ['Cerebras: a minute', { 'x-ratelimit-reset-tokens-minute': '33.01' }, {}, null, 33_010],
    [
      'Anthropic: a date',
      { 'anthropic-ratelimit-input-tokens-reset': '2026-01-16T12:00:08Z' },
      {},
      null,
      8000,
    ],
    [
      'OpenRouter: headers in the body',
      {},
      { metadata: { headers: { 'X-RateLimit-Reset': '5' } } },
      null,
      5000,
    ],
    [
      'retry-after repeated in the body',
      {},
      { metadata: { headers: { 'Retry-After': '6' } } },
      null,
      6000,
    ],
    ['nothing', {}, {}, null, undefined],
    ['not an object', {}, 'x', null, undefined],
  ])('%s', (_what, headers, error, message, expected) => {
    expect(retryAfterMs(headers, error, message, now, true)).toBe(expected);
  });

  it('ignores the reset of a limit for another error', () => {
    expect(retryAfterMs({ 'x-ratelimit-reset': '60' }, {}, null, now, false)).toBeUndefined();
    expect(retryAfterMs({ 'retry-after': '60' }, {}, null, now, false)).toBe(60_000);
  });

  it('reads header names in any case and from any container', () => {
    expect(headerMap({ 'Retry-After': 3 })).toEqual({ 'retry-after': '3' });
    expect(headerMap(new Headers({ 'Retry-After': '3' }))).toEqual({ 'retry-after': '3' });
    expect(headerMap(undefined)).toEqual({});
  });
});
