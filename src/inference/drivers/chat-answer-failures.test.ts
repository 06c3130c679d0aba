import { describe, expect, it } from 'vitest';
import { calls, piece, usage, ways } from '../../../test/setup/chat-samples.ts';
import { delta } from '../../../test/setup/loopback.ts';
import { events } from '../../../test/setup/read-chat.ts';

describe.each(ways)('a streamed answer, read %s', (_way, read) => {
  it.each<[string, string, Record<string, unknown>]>([
    [
      'an error chunk',
      events(delta('a'), { error: { code: 502, message: 'gone' } }),
      { code: 'server', status: 502, message: 'gone' },
    ],
    [
      'an error event',
      `${events(delta('a'))}event: error\n${events({ error: { message: 'gone', status_code: 400 } })}`,
      { status: 400, message: 'gone' },
    ],
    [
      'an error event without JSON',
      `${events(delta('a'))}event: error\ndata: gone\n\n`,
      { message: 'gone' },
    ],
    [
      'an error chunk with choices and usage',
      events(delta('a'), {
        ...delta('', 'error', { usage }),
        error: { code: 502, message: 'gone' },
      }),
      { status: 502, message: 'gone' },
    ],
    [
      'an error inside a choice',
      events(delta('a'), {
        choices: [{ index: 0, error: { code: 502, message: 'gone' }, finish_reason: 'error' }],
      }),
      { status: 502, message: 'gone' },
    ],
    [
      'a bare JSON error',
      `${events(delta('a'))}{"error":{"code":502,"message":"gone"}}\n`,
      { status: 502, message: 'gone' },
    ],
    [
      'a bare JSON error on many lines',
      `${events(delta('a'))}{\n  "error": {\n    "code": 502,\n    "message": "gone"\n  }\n}\n`,
      { status: 502, message: 'gone' },
    ],
    [
      'an error under its own field',
      `${events(delta('a'))}error: {"code":500,"message":"gone"}\n\n`,
      { status: 500, message: 'gone' },
    ],
    ['an error as text', events(delta('a'), 'error: gone'), { message: 'error: gone' }],
    [
      'a list of errors, as Gemini sends it',
      events(delta('a'), [{ error: { code: 503, message: 'gone' } }]),
      { status: 503, message: 'gone' },
    ],
    [
      'an error in the middle of an event',
      `${events(delta('a'))}data: {"choi\ndata: {"error":{"code":502,"message":"gone"}}\n\n`,
      { status: 502, message: 'gone' },
    ],
    [
      'the end of the connection',
      events(delta('a')),
      { type: 'timeout', code: 'stream_incomplete' },
    ],
    [
      'a part that is not JSON',
      events(delta('a'), '{"choices":[{"del'),
      { type: 'validation', code: 'unreadable_body' },
    ],
  ])('%s keeps the partial answer', (_what, text, report) => {
    const { failure, shown } = read(text);
    expect(failure?.report).toMatchObject(report);
    expect(failure?.partial.content).toBe('a');
    expect(shown).toBe('a');
  });

  it('keeps calls and usage of a failed stream', () => {
    const { failure } = read(
      events(calls(piece(0, 'a', 'x', '{"q"')), delta('', null, { usage }), { error: 'gone' }),
    );
    expect(failure?.partial).toMatchObject({
      toolCalls: [{ id: 'a', name: 'x', argsRaw: '{"q"' }],
      usage: { input: 10, output: 5, total: 15 },
    });
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['an empty body', '', { type: 'timeout', code: 'stream_incomplete' }],
    [
      'only comments',
      ': PROCESSING\n\n: PROCESSING\n\n',
      { type: 'timeout', code: 'stream_incomplete' },
    ],
    [
      'comments, then a JSON error',
      ': PROCESSING\n\n{"error":{"message":"no","code":502}}',
      { status: 502, message: 'no' },
    ],
    ['only [DONE]', events('[DONE]'), { type: 'validation', code: 'unreadable_body' }],
    [
      'only an error',
      events({ error: { message: 'no', code: 'tool_use_failed' } }),
      { type: 'validation', code: 'tool_use_failed' },
    ],
    [
      'comments, then an error',
      `: PROCESSING\n\n${events({ error: { message: 'no', code: 502 } })}`,
      { status: 502 },
    ],
    [
      'a JSON error instead of a stream',
      '{"error":{"message":"no","code":502}}',
      { status: 502, message: 'no' },
    ],
    ['a page instead of a stream', '<html><title>Welcome</title></html>', { type: 'validation' }],
  ])('%s is a failure', (_what, text, report) => {
    expect(read(text).failure?.report).toMatchObject(report);
  });
});
