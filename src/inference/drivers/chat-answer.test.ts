import { describe, expect, it } from 'vitest';
import { delta, toolCall } from '../../../test/setup/loopback.ts';
import { events, everyByte, readChat, type Reading } from '../../../test/setup/read-chat.ts';
import type { InferenceResponse } from '../inference-driver.ts';

/** One piece of a tool call; what is null is left out. */
const piece = (
  index: number | null,
  id: string | null,
  name: string | null,
  args: string,
): Record<string, unknown> => ({
  ...(index === null ? null : { index }),
  ...(id === null ? null : { id }),
  function: { ...(name === null ? null : { name }), arguments: args },
});
const calls = (...pieces: readonly unknown[]): Record<string, unknown> =>
  delta({ tool_calls: pieces });
const end = (word: string | null): Record<string, unknown> => delta({}, word);
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

const call = (name: string, args: Record<string, unknown>, id: string | null = null) => ({
  id,
  name,
  args,
});

/** Name, wire text, what the answer must be. */
type Sample = readonly [string, string, Partial<InferenceResponse>];

const texts: readonly Sample[] = [
  [
    'text in pieces, usage in a last chunk without choices',
    events(delta('Olá'), delta(' 😊'), end('stop'), { choices: [], usage }, '[DONE]'),
    { content: 'Olá 😊', finishReason: 'stop', usage: { input: 10, output: 5, total: 15 } },
  ],
  [
    'a first chunk without choices, as Azure sends it',
    events({ choices: [], prompt_filter_results: [] }, delta('a'), end('stop'), '[DONE]'),
    { content: 'a', finishReason: 'stop' },
  ],
  ['no [DONE]', events(delta('a'), end('stop')), { content: 'a', finishReason: 'stop' }],
  [
    'no finish word, but [DONE]',
    events(delta('a'), '[DONE]'),
    { content: 'a', finishReason: 'stop' },
  ],
  [
    'neither, but the count at the very end',
    events(delta('a'), delta('b', null, { usage })),
    { content: 'ab', finishReason: 'stop' },
  ],
  [
    'no blank line behind the last event',
    events(delta('a'), end('stop')).trimEnd(),
    { content: 'a' },
  ],
  [
    'comment lines and a byte order mark',
    `\uFEFF: PROCESSING\n\n${events(delta('a'))}: PROCESSING\n\n${events(end('stop'), '[DONE]')}`,
    { content: 'a' },
  ],
  [
    'CRLF framing',
    events(delta('a'), delta('é'), end('stop'), '[DONE]').replaceAll('\n', '\r\n'),
    { content: 'aé' },
  ],
  [
    'no space behind data:',
    events(delta('a'), end('stop'), '[DONE]').replaceAll('data: ', 'data:'),
    { content: 'a' },
  ],
  [
    'data: written twice',
    events(delta('a'), end('stop'), '[DONE]').replaceAll('data: ', 'data: data: '),
    { content: 'a' },
  ],
  [
    'events parted by one line break',
    events(delta('a'), delta('b'), end('stop'), '[DONE]').replaceAll('\n\n', '\n'),
    { content: 'ab' },
  ],
  ['empty events', events('', delta('a'), '', end('stop'), '[DONE]'), { content: 'a' }],
  [
    'a line that keeps the connection open',
    events('ping', delta('a'), end('stop'), '[DONE]'),
    { content: 'a' },
  ],
  [
    'the finish word twice, as OpenRouter sends it',
    events(delta('a'), end('stop'), delta('', 'stop', { usage }), '[DONE]'),
    { content: 'a', finishReason: 'stop', usage: { input: 10, output: 5, total: 15 } },
  ],
  [
    'text behind the finish word',
    events(delta('a', 'stop'), delta('b'), '[DONE]'),
    { content: 'ab' },
  ],
  [
    'a word that tells more is not taken back',
    events(delta('a', 'length'), end('stop'), '[DONE]'),
    { finishReason: 'length' },
  ],
  ['an unknown word', events(delta('a', 'eos'), '[DONE]'), { content: 'a', finishReason: 'stop' }],
  ['an empty word', events(delta('a', ''), '[DONE]'), { content: 'a', finishReason: 'stop' }],
  [
    'content as a list, an object, null or missing',
    events(
      delta({ content: [{ type: 'text', text: 'a' }, 'b'] }),
      delta({ content: {} }),
      delta({ content: null }),
      delta({}),
      end('stop'),
      '[DONE]',
    ),
    { content: 'ab' },
  ],
  [
    'a choice without delta',
    events(delta('a'), { choices: [{ index: 0, finish_reason: 'stop' }] }, '[DONE]'),
    { content: 'a', finishReason: 'stop' },
  ],
  [
    'the whole message beside every delta, as Perplexity sends it',
    events(
      { choices: [{ index: 0, delta: { content: 'a' }, message: { content: 'a' } }] },
      { choices: [{ index: 0, delta: { content: 'b' }, message: { content: 'ab' } }] },
      { choices: [{ index: 0, message: { content: 'ab' }, finish_reason: 'stop' }] },
      '[DONE]',
    ),
    { content: 'ab' },
  ],
  [
    'a message in place of the only delta',
    events({ choices: [{ message: { content: 'a' }, finish_reason: 'stop' }] }, '[DONE]'),
    { content: 'a' },
  ],
  [
    'only the first choice is read',
    events(
      {
        choices: [
          { index: 1, delta: { content: 'x' } },
          { index: 0, delta: { content: 'a' } },
        ],
      },
      { choices: [{ index: 1, delta: {}, finish_reason: 'length' }] },
      end('stop'),
      '[DONE]',
    ),
    { content: 'a', finishReason: 'stop' },
  ],
  [
    'the filter of Azure',
    events(delta('a'), end('content_filter'), '[DONE]'),
    { finishReason: 'content_filter' },
  ],
];

const reports: readonly Sample[] = [
  [
    'in every chunk: the last wins, nothing is added up',
    events(
      delta('a', null, { usage: { prompt_tokens: 10, completion_tokens: 1 } }),
      delta('b', 'stop', { usage: { prompt_tokens: 10, completion_tokens: 2 } }),
      '[DONE]',
    ),
    { usage: { input: 10, output: 2 } },
  ],
  [
    'twice, as Groq sends it',
    events(delta('a', 'stop', { x_groq: { usage } }), { choices: [], usage }, '[DONE]'),
    { usage: { input: 10, output: 5, total: 15 } },
  ],
  [
    'in x_groq alone, beside an empty one',
    events(delta('a', 'stop', { usage: {}, x_groq: { usage } }), '[DONE]'),
    { usage: { input: 10, output: 5, total: 15 } },
  ],
  [
    'inside the choice, as Moonshot sends it',
    events(
      { choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop', usage }] },
      '[DONE]',
    ),
    { usage: { input: 10, output: 5, total: 15 } },
  ],
  [
    'not last, and null afterwards',
    events(delta('a', null, { usage }), delta('b', 'stop', { usage: null }), '[DONE]'),
    { usage: { input: 10, output: 5, total: 15 } },
  ],
  [
    'a total of its own, cached and reasoning tokens',
    events(
      delta('a', 'stop', {
        usage: {
          prompt_tokens: 10,
          completion_tokens: 5,
          total_tokens: 40,
          prompt_tokens_details: { cached_tokens: 4 },
          completion_tokens_details: { reasoning_tokens: 25 },
        },
      }),
      '[DONE]',
    ),
    { usage: { input: 10, output: 5, total: 40, cachedInput: 4, reasoning: 25 } },
  ],
  [
    'the cache of DeepSeek',
    events(delta('a', 'stop', { usage: { ...usage, prompt_cache_hit_tokens: 8 } }), '[DONE]'),
    { usage: { input: 10, output: 5, total: 15, cachedInput: 8 } },
  ],
  ['none', events(delta('a', 'stop'), '[DONE]'), { usage: null }],
  [
    'the bill of OpenRouter',
    events(delta('a', 'stop', { usage: { ...usage, cost: 0.5, is_byok: false } }), '[DONE]'),
    { cost: 0.5 },
  ],
];

const thoughts: readonly Sample[] = [
  [
    'reasoning_content',
    events(
      delta({ reasoning_content: 'Hm' }),
      delta({ reasoning_content: '.' }),
      delta('a', 'stop'),
    ),
    { content: 'a', reasoning: 'Hm.' },
  ],
  ['reasoning', events(delta({ reasoning: 'Hm' }), delta('a', 'stop')), { reasoning: 'Hm' }],
  [
    'reasoning_details',
    events(
      delta({ reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }] }),
      delta('a', 'stop'),
    ),
    { reasoning: 'Hm' },
  ],
  [
    'the same text in two fields counts once',
    events(
      delta({ reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }] }),
      delta('a', 'stop'),
    ),
    { content: 'a', reasoning: 'Hm' },
  ],
  [
    'parts of the content, as Mistral sends them',
    events(
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] }),
      delta('a', 'stop'),
    ),
    { content: 'a', reasoning: 'Hm' },
  ],
  [
    '<think> at the beginning of the text',
    events(delta('<th'), delta('ink>\nHm</thi'), delta('nk>\n'), delta('\na'), end('stop')),
    { content: 'a', reasoning: '\nHm' },
  ],
  [
    'an empty <think>',
    events(delta('<think>\n\n</think>\n\na'), end('stop')),
    { content: 'a', reasoning: null },
  ],
  [
    '<think> that never ends is kept as it came',
    events(delta('<think>Hm'), end('length')),
    { content: '<think>Hm', reasoning: null },
  ],
  [
    '<think> in the middle is text',
    events(delta('a <think>b</think>'), end('stop')),
    { content: 'a <think>b</think>', reasoning: null },
  ],
  [
    'a text that begins with <',
    events(delta('<t'), delta('able>'), end('stop')),
    { content: '<table>' },
  ],
  [
    'a refusal is not content',
    events(delta({ refusal: 'I ' }), delta({ refusal: 'cannot.' }), end('stop')),
    { content: '', refusal: 'I cannot.' },
  ],
  [
    'a refusal as a part',
    events(delta({ content: [{ type: 'refusal', refusal: 'No.' }] }, 'stop')),
    { content: '', refusal: 'No.' },
  ],
];

const calling: readonly Sample[] = [
  [
    'arguments in pieces, by index',
    events(
      calls(piece(0, 'a', 'x', '')),
      calls(piece(0, null, null, '{"q"')),
      calls(piece(1, 'b', 'y', '{}')),
      calls(piece(0, null, null, ':1}')),
      end('tool_calls'),
      '[DONE]',
    ),
    { toolCalls: [call('x', { q: 1 }, 'a'), call('y', {}, 'b')], finishReason: 'tool_calls' },
  ],
  [
    'the word stop with calls',
    events(calls(piece(0, 'a', 'x', '{}')), end('stop'), '[DONE]'),
    { toolCalls: [call('x', {}, 'a')], finishReason: 'tool_calls' },
  ],
  [
    'no index, whole calls, as Mistral sends them',
    events(
      calls(piece(null, 'a', 'x', '{"q":1}'), piece(null, 'b', 'x', '{"q":2}')),
      end('tool_calls'),
    ),
    { toolCalls: [call('x', { q: 1 }, 'a'), call('x', { q: 2 }, 'b')] },
  ],
  [
    'no index, in pieces: they belong to the last call',
    events(
      calls(piece(null, 'a', 'x', '{"q":1}')),
      calls(piece(null, 'b', 'y', '{"q"')),
      calls(piece(null, null, null, ':2}')),
      end('tool_calls'),
    ),
    { toolCalls: [call('x', { q: 1 }, 'a'), call('y', { q: 2 }, 'b')] },
  ],
  [
    'no index and no id: a name again behind a whole call begins the next',
    events(
      calls(piece(null, null, 'x', '{"q":1}')),
      calls(piece(null, null, 'x', '{"q":2}')),
      end('tool_calls'),
    ),
    { toolCalls: [call('x', { q: 1 }), call('x', { q: 2 })] },
  ],
  [
    'index 0 for every call, with other ids, as Ollama sends it',
    events(
      calls(piece(0, 'a', 'x', '{"q":')),
      calls(piece(0, 'a', null, '1}')),
      calls(piece(0, 'b', 'x', '{"q":2}')),
      end('tool_calls'),
    ),
    { toolCalls: [call('x', { q: 1 }, 'a'), call('x', { q: 2 }, 'b')] },
  ],
  [
    'index 0 for every call, with empty ids',
    events(
      calls(piece(0, '', 'x', '{"q":1}')),
      calls(piece(0, '', 'x', '{"q":2}')),
      calls(piece(0, '', 'y', '{}')),
      end('stop'),
    ),
    { toolCalls: [call('x', { q: 1 }), call('x', { q: 2 }), call('y', {})] },
  ],
  [
    'one id for two calls of different index',
    events(calls(piece(0, 'a', 'x', '{"q":1}'), piece(1, 'a', 'x', '{"q":2}')), end('tool_calls')),
    { toolCalls: [call('x', { q: 1 }, 'a'), call('x', { q: 2 }, 'a')] },
  ],
  [
    'id and name repeated in every piece',
    events(
      calls(piece(0, 'a', 'x', '')),
      calls(piece(0, 'a', 'x', '{"q"')),
      calls(piece(0, 'a', 'x', ':1}')),
      '[DONE]',
    ),
    { toolCalls: [call('x', { q: 1 }, 'a')], finishReason: 'tool_calls' },
  ],
  [
    'the name repeated, the id missing',
    events(
      calls(piece(0, null, 'x', '{"q"')),
      calls(piece(0, null, 'x', ':1}')),
      end('tool_calls'),
    ),
    { toolCalls: [call('x', { q: 1 })] },
  ],
  [
    'an id that comes late',
    events(calls(piece(0, null, 'x', '{')), calls(piece(0, 'a', null, '}')), end('tool_calls')),
    { toolCalls: [call('x', {}, 'a')] },
  ],
  [
    'an index that does not begin at 0, or is a text',
    events(
      calls(piece(3, 'a', 'x', '{')),
      calls({ ...piece(null, null, null, '}'), index: '3' }),
      end('tool_calls'),
    ),
    { toolCalls: [call('x', {}, 'a')] },
  ],
  [
    'arguments as an object',
    events(
      calls({ index: 0, id: 'a', function: { name: 'x', arguments: { q: 1 } } }),
      end('tool_calls'),
    ),
    { toolCalls: [call('x', { q: 1 }, 'a')] },
  ],
  [
    'no arguments at all',
    events(calls(piece(0, 'a', 'x', '')), end('tool_calls')),
    { toolCalls: [call('x', {}, 'a')] },
  ],
  [
    'the old form of a call',
    events(
      delta({ function_call: { name: 'x', arguments: '{"q"' } }),
      delta({ function_call: { arguments: ':1}' } }),
      end('function_call'),
    ),
    { toolCalls: [call('x', { q: 1 })], finishReason: 'tool_calls' },
  ],
  [
    'text beside calls is kept',
    events(delta('Let me look.'), calls(piece(0, 'a', 'x', '{}')), end('tool_calls')),
    { content: 'Let me look.', toolCalls: [call('x', {}, 'a')] },
  ],
  [
    'no word and no [DONE], but every call is whole',
    events(calls(piece(0, 'a', 'x', '{"q":1}'))),
    { toolCalls: [call('x', { q: 1 }, 'a')], finishReason: 'tool_calls' },
  ],
];

/** Calls that must never run: no arguments are given for them. */
const unreadable: readonly (readonly [string, string, string, string])[] = [
  [
    'two values glued together',
    events(
      calls(piece(0, 'a', 'x', '{"q":1}')),
      calls(piece(0, null, null, '{"q":1}')),
      end('tool_calls'),
    ),
    '{"q":1}{"q":1}',
    'tool_calls',
  ],
  [
    'glued together under the same id and name',
    events(
      calls(piece(0, 'a', 'x', '{"q":1}')),
      calls(piece(0, 'a', 'x', '{"q":2}')),
      end('tool_calls'),
    ),
    '{"q":1}{"q":2}',
    'tool_calls',
  ],
  [
    'cut in half, and called tool_calls',
    events(calls(piece(0, 'a', 'x', '{"q":')), end('tool_calls')),
    '{"q":',
    'tool_calls',
  ],
  [
    'cut by the limit',
    events(calls(piece(0, 'a', 'x', '{"q":')), end('length')),
    '{"q":',
    'length',
  ],
  [
    'cut before the first argument',
    events(calls(piece(0, 'a', 'x', '')), end('length')),
    '',
    'length',
  ],
  ['a list', events(calls(piece(0, 'a', 'x', '[1]')), end('tool_calls')), '[1]', 'tool_calls'],
  ['a word', events(calls(piece(0, 'a', 'x', 'Paris')), end('tool_calls')), 'Paris', 'tool_calls'],
];

const ways: readonly (readonly [string, (text: string) => Reading])[] = [
  ['in one piece', (text) => readChat(text)],
  ['byte by byte', (text) => readChat(text, everyByte(text))],
  [
    'in pieces of seven',
    (text) =>
      readChat(
        text,
        everyByte(text).filter((i) => i % 7 === 0),
      ),
  ],
];

describe.each(ways)('a streamed answer, read %s', (_way, read) => {
  describe.each([
    ['text', texts],
    ['usage', reports],
    ['reasoning and refusal', thoughts],
    ['calls', calling],
  ] as const)('%s', (_room, samples) => {
    it.each(samples)('%s', (_name, text, expected) => {
      const { response, failure, shown } = read(text);
      expect(failure).toBeNull();
      expect(response).toMatchObject(expected);
      expect(shown).toBe(response?.content);
    });
  });

  it.each(unreadable)('a call that cannot be read: %s', (_name, text, argsRaw, finishReason) => {
    const { response } = read(text);
    expect(response?.finishReason).toBe(finishReason);
    expect(response?.toolCalls).toEqual([{ id: 'a', name: 'x', argsRaw }]);
  });

  it('arguments have chunks of their own, which say the same as the calls', () => {
    const { chunks, response, shown } = read(
      events(
        delta('Hi'),
        calls(piece(0, 'a', 'x', '{"q"'), piece(1, '', 'y', '')),
        calls(piece(1, null, null, '{}'), piece(0, null, null, ':1}')),
        end('tool_calls'),
        '[DONE]',
      ),
    );
    const told = chunks.filter((chunk) => chunk.type === 'tool_call');
    const argsOf = (index: number): string =>
      told.map((chunk) => (chunk.index === index ? chunk.argsDelta : '')).join('');
    expect(shown).toBe('Hi');
    expect([argsOf(0), argsOf(1)]).toEqual(response?.toolCalls.map(({ argsRaw }) => argsRaw));
    expect(told.find(({ index }) => index === 1)).toMatchObject({ id: null, name: 'y' });
  });

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
      'an error under a field of its own',
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
      'a piece that is no JSON',
      events(delta('a'), '{"choices":[{"del'),
      { type: 'validation', code: 'unreadable_body' },
    ],
  ])('%s keeps what had arrived', (_what, text, report) => {
    const { failure, shown } = read(text);
    expect(failure?.report).toMatchObject(report);
    expect(failure?.partial.content).toBe('a');
    expect(shown).toBe('a');
  });

  it('a failed stream keeps calls and usage too', () => {
    const { failure } = read(
      events(calls(piece(0, 'a', 'x', '{"q"')), delta('', null, { usage }), { error: 'gone' }),
    );
    expect(failure?.partial).toMatchObject({
      toolCalls: [{ id: 'a', name: 'x', argsRaw: '{"q"' }],
      usage: { input: 10, output: 5, total: 15 },
    });
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['nothing at all', '', { type: 'timeout', code: 'stream_incomplete' }],
    [
      'comments alone',
      ': PROCESSING\n\n: PROCESSING\n\n',
      { type: 'timeout', code: 'stream_incomplete' },
    ],
    [
      'comments, then a JSON error',
      ': PROCESSING\n\n{"error":{"message":"no","code":502}}',
      { status: 502, message: 'no' },
    ],
    ['[DONE] alone', events('[DONE]'), { type: 'validation', code: 'unreadable_body' }],
    [
      'an error alone',
      events({ error: { message: 'no', code: 'tool_use_failed' } }),
      { type: 'validation', code: 'tool_use_failed' },
    ],
    [
      'comments, then an error',
      `: PROCESSING\n\n${events({ error: { message: 'no', code: 502 } })}`,
      { status: 502 },
    ],
    [
      'a JSON error in place of a stream',
      '{"error":{"message":"no","code":502}}',
      { status: 502, message: 'no' },
    ],
    ['a page in place of a stream', '<html><title>Welcome</title></html>', { type: 'validation' }],
  ])('%s is a failure', (_what, text, report) => {
    expect(read(text).failure?.report).toMatchObject(report);
  });

  it('a stream that is answered with JSON is read all the same', () => {
    const body = JSON.stringify(
      { choices: [{ message: { content: 'a', tool_calls: [toolCall('x', { q: 1 })] } }], usage },
      null,
      2,
    );
    const { response, shown } = read(body);
    expect(shown).toBe('a');
    expect(response).toMatchObject({ content: 'a', toolCalls: [call('x', { q: 1 }, 'call_1')] });
  });

  it('and so are JSON lines', () => {
    const lines = [delta('a'), delta('b'), end('stop')].map((chunk) => JSON.stringify(chunk));
    expect(read(lines.join('\n')).response).toMatchObject({ content: 'ab', finishReason: 'stop' });
  });
});
