import { describe, expect, it } from 'vitest';
import type { InferenceResponse, InferredToolCall } from './inference-driver.ts';
import { isReport, readResponse, type ReadResponse } from './read-response.ts';

const answer = (more: Partial<InferenceResponse>): InferenceResponse => ({
  content: '',
  toolCalls: [],
  finishReason: 'stop',
  usage: null,
  ...more,
});

function read(more: Partial<InferenceResponse>): ReadResponse {
  const made = readResponse(answer(more));
  if (isReport(made)) throw new Error(`unreadable: ${made.message}`);
  return made;
}

const call = (more: Partial<InferredToolCall> = {}): InferredToolCall => ({
  id: 'a',
  name: 'search',
  args: { q: 1 },
  ...more,
});

describe('readResponse: the finish reason', () => {
  it.each<[string, boolean, string, readonly string[], string]>([
    ['stop', false, 'stop', [], 'an answer'],
    ['tool_calls', true, 'tool_calls', [], 'calls'],
    [
      'stop',
      true,
      'tool_calls',
      ['finishReasonCorrected:stop'],
      'calls override the finish reason',
    ],
    ['unknown', true, 'tool_calls', ['finishReasonCorrected:unknown'], 'an unknown finish reason'],
    ['', true, 'tool_calls', ['finishReasonCorrected:'], 'no finish reason'],
    ['unknown', false, 'stop', [], 'an unknown finish reason without calls'],
    ['tool_calls', false, 'stop', [], 'the finish reason without calls'],
    ['length', false, 'length', [], 'a truncated answer'],
    ['length', true, 'length', [], 'truncated calls'],
    ['content_filter', false, 'content_filter', [], 'a filtered answer'],
  ])('%s with calls: %s reads %s', (finishReason, hasCalls, word, notes) => {
    const made = read({ finishReason, toolCalls: hasCalls ? [call()] : [] });
    expect(made.finishReason).toBe(word);
    expect(made.notes).toEqual(notes);
  });

  it('error is a failed model call, even with content and calls', () => {
    expect(
      readResponse(answer({ finishReason: 'error', content: 'Hi', toolCalls: [call()] })),
    ).toMatchObject({ type: 'model', code: 'finish_error' });
  });

  it('a refusal is a failed model call that is not retried', () => {
    expect(readResponse(answer({ refusal: 'I cannot help with that.' }))).toEqual({
      type: 'model',
      code: 'refusal',
      message: 'The model refused: I cannot help with that.',
      retryable: false,
    });
    expect(read({ refusal: '', content: 'Hi' }).content).toBe('Hi');
    expect(read({ refusal: null, content: 'Hi' }).content).toBe('Hi');
  });
});

describe('readResponse: arguments', () => {
  it.each<[string, Partial<InferredToolCall>, object]>([
    ['an object', { args: { q: 1 } }, { q: 1 }],
    ['an empty object', { args: {} }, {}],
    ['JSON text', { args: undefined, argsRaw: ' {"q":1} ' }, { q: 1 }],
    ['JSON text instead of the object', { args: '{"q":1}' }, { q: 1 }],
    ['nothing', { args: undefined }, {}],
    ['null', { args: null }, {}],
    ['blank text', { args: undefined, argsRaw: ' ' }, {}],
  ])('%s is read', (_case, given, args) => {
    expect(read({ toolCalls: [call(given)] }).calls).toEqual([
      { providerId: 'a', name: 'search', args },
    ]);
  });

  it.each<[string, Partial<InferredToolCall>, RegExp, string]>([
    ['broken JSON', { args: undefined, argsRaw: '{"q":' }, /^The arguments are not valid/, '{"q":'],
    ['broken JSON instead of the object', { args: '{"q"' }, /not valid JSON/, '{"q"'],
    [
      'a list',
      { args: [1, 2] },
      /^The arguments are an array of 2, expected a JSON object/,
      '[1,2]',
    ],
    ['a number as text', { args: undefined, argsRaw: '5' }, /^The arguments are 5, expected/, '5'],
    ['a text in quotes', { args: undefined, argsRaw: '"q"' }, /^The arguments are "q"/, '"q"'],
    ['a number', { args: 7 }, /^The arguments are 7, expected a JSON object/, '7'],
  ])('D62: %s never runs', (_case, given, problem, argsRaw) => {
    const [made] = read({ finishReason: 'tool_calls', toolCalls: [call(given)] }).calls;
    expect(made).toMatchObject({ args: {}, argsRaw, problem: expect.stringMatching(problem) });
  });

  it.each<[string, Partial<InferredToolCall>]>([
    ['whole arguments', { args: { q: 1 } }],
    ['incomplete arguments', { args: undefined, argsRaw: '{"q":"lon' }],
    ['no arguments', { args: undefined, argsRaw: '' }],
  ])('D62: a turn truncated by length runs nothing: %s', (_case, given) => {
    const made = read({ finishReason: 'length', toolCalls: [call(), call(given)] });
    expect(made.calls.map(({ problem }) => problem)).toEqual([
      expect.stringMatching(/truncated at the output limit \(length\)/),
      expect.stringMatching(/truncated at the output limit \(length\)/),
    ]);
  });

  it.each<[unknown, string | null]>([
    ['a', 'a'],
    ['', null],
    [null, null],
    [undefined, null],
    [5, null],
    [{}, null],
  ])('id %j is read as %j', (id, providerId) => {
    const [made] = read({ toolCalls: [call({ id: id as string })] }).calls;
    expect(made?.providerId).toBe(providerId);
  });

  it('arguments that JSON cannot represent fail the call, not the run', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    const [made] = read({ toolCalls: [call({ args: loop })] }).calls;
    expect(made?.problem).toMatch(/^The arguments cannot be stored as JSON/);
  });
});

describe('readResponse: invalid responses', () => {
  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /it is undefined, expected an InferenceResponse/],
    ['a text', 'Hello', /it is "Hello", expected an InferenceResponse/],
    ['a list', [], /it is an array of 0/],
    ['no content', { toolCalls: [] }, /content is undefined, expected a string/],
    ['parts for content', { content: [], toolCalls: [] }, /content is an array of 0/],
    ['calls that are not a list', { content: '' }, /toolCalls is undefined, expected a list/],
    [
      'a call without a name',
      { content: '', toolCalls: [{ id: 'a' }] },
      /a tool call is an object/,
    ],
    ['an invalid call', { content: '', toolCalls: [null] }, /a tool call is null/],
    ['a gap', { content: '', toolCalls: [undefined] }, /a tool call is undefined/],
    [
      'raw arguments that are not text',
      { content: '', toolCalls: [{ name: 'search', argsRaw: 5 }] },
      /a tool call is an object with name, argsRaw/,
    ],
  ])('%s is a validation failure that names the value', (_case, response, message) => {
    expect(readResponse(response as InferenceResponse)).toMatchObject({
      type: 'validation',
      code: 'bad_response',
      message: expect.stringMatching(message),
    });
  });
});
