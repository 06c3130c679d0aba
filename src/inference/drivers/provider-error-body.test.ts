import { describe, expect, it } from 'vitest';
import { error, read } from '../../../test/setup/refusals.ts';
import { isErrorBody } from './provider-error.ts';

describe('the message of a refusal', () => {
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
    ['only a message', { statusCode: 429, message: 'said' }, 'said'],
    ['MiniMax', { base_resp: { status_code: 1004, status_msg: 'said' } }, 'said'],
    [
      'inside a choice',
      { choices: [{ error: { code: 502, message: 'said' }, finish_reason: 'error' }] },
      'said',
    ],
    ['an empty error with a message', { error: {}, message: 'said' }, 'said'],
    [
      'a page',
      '<html><head><title>502 Bad Gateway</title></head><body>x</body></html>',
      '502 Bad Gateway',
    ],
    ['a page without a title', '<p>Bad</p><p>Gateway</p>', 'Bad Gateway'],
    ['a bare line', 'upstream connect error', 'upstream connect error'],
    ['framed as a stream', 'event: error\ndata: {"error":{"message":"said"}}\n\n', 'said'],
    ['a JSON text', '"said"', 'said'],
    ['an empty body', '', 'The provider refused with status 500.'],
    ['an empty object', {}, 'The provider refused with status 500.'],
  ])('%s', (_what, body, message) => {
    expect(read(500, body).message).toBe(message);
  });

  it('truncates a message with a whole prompt', () => {
    expect(read(400, error('x'.repeat(50_000))).message.length).toBeLessThan(2_100);
  });
});

describe('isErrorBody', () => {
  it.each<[unknown, boolean, string]>([
    [error('x'), true, 'an error'],
    [{ error: 'x' }, true, 'a text'],
    [[error('x')], true, 'in a list'],
    [{ error: {} }, true, 'an empty one alone'],
    [{ type: 'error', message: 'x' }, true, 'by its type'],
    [{ object: 'error', message: 'x' }, true, 'vLLM'],
    [{ choices: [{ error: { message: 'x' } }] }, true, 'inside a choice'],
    [{ error: { message: 'x' }, choices: [{ delta: {} }] }, true, 'beside choices'],
    [{ error: null, choices: [] }, false, 'null'],
    [{ error: '', choices: [] }, false, 'an empty text'],
    [{ error: {}, choices: [{}] }, false, 'an empty object next to an answer'],
    [{ error: false, choices: [] }, false, 'false'],
    [{ choices: [] }, false, 'an answer'],
    ['error', false, 'no object'],
    [[], false, 'an empty list'],
  ])('%j -> %s (%s)', (body, expected) => {
    expect(isErrorBody(body)).toBe(expected);
  });
});
