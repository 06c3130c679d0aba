import { describe, expect, it } from 'vitest';
import { call, end, isRead, usage, ways, type Sample } from '../../../test/setup/chat-samples.ts';
import { delta, toolCall } from '../../../test/setup/loopback.ts';
import { events } from '../../../test/setup/read-chat.ts';

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
    'no finish reason, but [DONE]',
    events(delta('a'), '[DONE]'),
    { content: 'a', finishReason: 'stop' },
  ],
  [
    'neither, but usage at the very end',
    events(delta('a'), delta('b', null, { usage })),
    { content: 'ab', finishReason: 'stop' },
  ],
  [
    'no blank line after the last event',
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
    'no space after data:',
    events(delta('a'), end('stop'), '[DONE]').replaceAll('data: ', 'data:'),
    { content: 'a' },
  ],
  [
    'data: written twice',
    events(delta('a'), end('stop'), '[DONE]').replaceAll('data: ', 'data: data: '),
    { content: 'a' },
  ],
  [
    'events separated by one line break',
    events(delta('a'), delta('b'), end('stop'), '[DONE]').replaceAll('\n\n', '\n'),
    { content: 'ab' },
  ],
  ['empty events', events('', delta('a'), '', end('stop'), '[DONE]'), { content: 'a' }],
  ['a keep-alive line', events('ping', delta('a'), end('stop'), '[DONE]'), { content: 'a' }],
  [
    'the finish reason twice, as OpenRouter sends it',
    events(delta('a'), end('stop'), delta('', 'stop', { usage }), '[DONE]'),
    { content: 'a', finishReason: 'stop', usage: { input: 10, output: 5, total: 15 } },
  ],
  [
    'text after the finish reason',
    events(delta('a', 'stop'), delta('b'), '[DONE]'),
    { content: 'ab' },
  ],
  [
    'a finish reason that reports a problem, then an ordinary one',
    events(delta('a', 'length'), end('stop'), '[DONE]'),
    { finishReason: 'length' },
  ],
  [
    'an unknown finish reason',
    events(delta('a', 'eos'), '[DONE]'),
    { content: 'a', finishReason: 'stop' },
  ],
  [
    'an empty finish reason',
    events(delta('a', ''), '[DONE]'),
    { content: 'a', finishReason: 'stop' },
  ],
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
    'the whole message next to every delta, as Perplexity sends it',
    events(
      { choices: [{ index: 0, delta: { content: 'a' }, message: { content: 'a' } }] },
      { choices: [{ index: 0, delta: { content: 'b' }, message: { content: 'ab' } }] },
      { choices: [{ index: 0, message: { content: 'ab' }, finish_reason: 'stop' }] },
      '[DONE]',
    ),
    { content: 'ab' },
  ],
  [
    'a message instead of the only delta',
    events({ choices: [{ message: { content: 'a' }, finish_reason: 'stop' }] }, '[DONE]'),
    { content: 'a' },
  ],
  [
    'several choices, of which only the first is read',
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
    'in every chunk: the last one wins',
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
    'only in x_groq, next to an empty one',
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
    'a different total, with cached and reasoning tokens',
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
  [
    'D83: what was written to a cache, at OpenAI and OpenRouter',
    events(
      delta('a', 'stop', {
        usage: { ...usage, prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 6 } },
      }),
      '[DONE]',
    ),
    { usage: { input: 10, output: 5, total: 15, cachedInput: 2, cacheWrite: 6 } },
  ],
  [
    'D83: what was written to a cache, at a gateway with the names of Anthropic',
    events(delta('a', 'stop', { usage: { ...usage, cache_creation_input_tokens: 6 } }), '[DONE]'),
    { usage: { input: 10, output: 5, total: 15, cacheWrite: 6 } },
  ],
  [
    'D83: the own report of Anthropic, where cached and written input is beside the input',
    events(
      delta('a', 'stop', {
        usage: {
          input_tokens: 1,
          output_tokens: 5,
          cache_read_input_tokens: 2,
          cache_creation_input_tokens: 6,
          cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 4 },
        },
      }),
      '[DONE]',
    ),
    { usage: { input: 9, output: 5, cachedInput: 2, cacheWrite: 6, cacheWrite1h: 4 } },
  ],
  ['none', events(delta('a', 'stop'), '[DONE]'), { usage: null }],
  [
    'the cost of OpenRouter',
    events(delta('a', 'stop', { usage: { ...usage, cost: 0.5, is_byok: false } }), '[DONE]'),
    { cost: 0.5 },
  ],
];

describe.each(ways)('a streamed answer, read %s', (_way, read) => {
  describe.each([
    ['text', texts],
    ['usage', reports],
  ] as const)('%s', (_room, samples) => {
    it.each(samples)('%s', (_name, text, expected) => isRead(read(text), expected));
  });

  it('reads JSON in response to a stream request', () => {
    const body = JSON.stringify(
      { choices: [{ message: { content: 'a', tool_calls: [toolCall('x', { q: 1 })] } }], usage },
      null,
      2,
    );
    const { response, shown } = read(body);
    expect(shown).toBe('a');
    expect(response).toMatchObject({ content: 'a', toolCalls: [call('x', { q: 1 }, 'call_1')] });
  });

  it('reads JSON lines', () => {
    const lines = [delta('a'), delta('b'), end('stop')].map((chunk) => JSON.stringify(chunk));
    expect(read(lines.join('\n')).response).toMatchObject({ content: 'ab', finishReason: 'stop' });
  });
});
