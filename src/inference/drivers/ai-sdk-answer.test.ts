import { describe, expect, it } from 'vitest';
import { Message } from '../../messages/message.ts';
import type { InferenceChunk } from '../inference-driver.ts';
import { AiSdkAnswer } from './ai-sdk-answer.ts';
import { assistantParts } from './ai-sdk-parts.ts';

const said = (unified: string, raw: string | undefined = unified) => ({
  type: 'finish',
  finishReason: { unified, raw },
  usage: { inputTokens: { total: 10, cacheRead: 4 }, outputTokens: { total: 5, reasoning: 2 } },
});

function read(...parts: readonly object[]) {
  const answer = new AiSdkAnswer('p');
  const chunks: InferenceChunk[] = parts.flatMap((part) => answer.read(part));
  return { answer, chunks, response: answer.response() };
}

const text = (delta: string, id = 't') => ({ type: 'text-delta', id, delta });
const call = (id: string, input: unknown, more: object = {}) => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'x',
  input,
  ...more,
});

describe('an answer of the AI SDK', () => {
  it('has text, reasoning and usage', () => {
    const { response, chunks, answer } = read(
      { type: 'stream-start', warnings: [] },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
      { type: 'reasoning-end', id: 'r', providerMetadata: { p: { signature: 's' } } },
      text('a'),
      text('b'),
      said('stop'),
    );
    expect(response).toMatchObject({
      content: 'ab',
      reasoning: 'Hm',
      finishReason: 'stop',
      usage: { input: 10, output: 5, cachedInput: 4, reasoning: 2 },
      metadata: {
        aiSdk: {
          provider: 'p',
          parts: [
            { type: 'reasoning', text: 'Hm', options: { p: { signature: 's' } } },
            { type: 'text', length: 2 },
          ],
        },
      },
    });
    expect(chunks.map(({ type }) => type)).toEqual(['reasoning', 'content', 'content', 'usage']);
    expect(answer.isFinished).toBe(true);
  });

  it('separates parts of reasoning by a blank line, streamed or not', () => {
    const parts: readonly string[] = ['Hm.', 'So.', '', 'Yes.'];
    const streamed = read(
      ...parts.flatMap((part, i) => [
        { type: 'reasoning-start', id: `r${i}` },
        ...Array.from(part, (delta) => ({ type: 'reasoning-delta', id: `r${i}`, delta })),
        { type: 'reasoning-end', id: `r${i}` },
      ]),
    );
    const whole = new AiSdkAnswer('p');
    for (const part of parts) whole.take({ type: 'reasoning', text: part });
    for (const { reasoning, metadata } of [streamed.response, whole.response()]) {
      expect(reasoning).toBe('Hm.\n\nSo.\n\nYes.');
      // each part is sent back unchanged
      expect(metadata).toMatchObject({ aiSdk: { parts: parts.map((text) => ({ text })) } });
    }
    const pieces = streamed.chunks.map((chunk) => ('text' in chunk ? chunk.text : ''));
    expect(pieces.join('')).toBe('Hm.\n\nSo.\n\nYes.');
  });

  it.each<[unknown, string, boolean, string]>([
    [{ unified: 'stop', raw: 'end_turn' }, 'stop', true, 'v3'],
    [{ unified: 'stop', raw: undefined }, 'stop', true, 'v3, a reason of the package'],
    [{ unified: 'other', raw: 'eos' }, 'stop', true, 'v3, an unknown reason'],
    [{ unified: 'other', raw: undefined }, 'stop', false, 'v3, the provider sent no reason'],
    ['stop', 'stop', true, 'v2'],
    ['unknown', 'stop', false, 'v2, the provider sent no reason'],
    ['content-filter', 'content_filter', true, 'v2'],
    [{ unified: 'content-filter', raw: 'refusal' }, 'content_filter', true, 'v3'],
    [{ unified: 'length', raw: 'max_tokens' }, 'length', true, 'v3'],
    [{ unified: 'error', raw: 'error' }, 'error', true, 'v3'],
  ])('finish reason %j is %s, complete: %s (%s)', (finishReason, expected, isFinished) => {
    const { answer, response } = read(text('a'), { ...said('x'), finishReason });
    expect(response.finishReason).toBe(expected);
    expect(answer.isFinished).toBe(isFinished);
  });

  it('has calls, streamed in chunks or whole', () => {
    const { response, chunks } = read(
      { type: 'tool-input-start', id: 'a', toolName: 'x' },
      { type: 'tool-input-delta', id: 'a', delta: '{"q"' },
      { type: 'tool-input-delta', id: 'a', delta: ':1}' },
      call('a', '{"q":1}'),
      call('b', { q: 2 }),
      said('stop'),
    );
    expect(response.toolCalls.map(({ id, args }) => [id, args])).toEqual([
      ['a', { q: 1 }],
      ['b', { q: 2 }],
    ]);
    expect(response.finishReason).toBe('tool_calls');
    const args = chunks
      .filter((chunk) => chunk.type === 'tool_call')
      .map((chunk) => chunk.argsDelta);
    expect(args).toEqual(['{"q"', ':1}', '{"q":2}']);
  });

  it('keeps two calls with one id', () => {
    const { response } = read(call('a', '{"q":1}'), call('a', '{"q":2}'), said('tool-calls'));
    expect(response.toolCalls.map(({ args }) => args)).toEqual([{ q: 1 }, { q: 2 }]);
  });

  it('ignores calls that the provider runs itself', () => {
    const { response } = read(
      { type: 'tool-input-start', id: 'a', toolName: 'web_search', providerExecuted: true },
      { type: 'tool-input-delta', id: 'a', delta: '{}' },
      call('a', '{}', { providerExecuted: true }),
      text('found'),
      said('stop'),
    );
    expect(response).toMatchObject({ content: 'found', toolCalls: [], finishReason: 'stop' });
  });

  it('keeps the text of an incomplete call, without arguments', () => {
    const { response } = read(
      { type: 'tool-input-start', id: 'a', toolName: 'x' },
      { type: 'tool-input-delta', id: 'a', delta: '{"q":' },
      said('tool-calls'),
    );
    expect(response.toolCalls).toEqual([{ id: 'a', name: 'x', argsRaw: '{"q":' }]);
  });

  it('keeps the partial answer of a failure', () => {
    const { answer } = read(text('a'), { type: 'tool-input-start', id: 'a', toolName: 'x' });
    expect(answer.partial).toEqual({
      content: 'a',
      toolCalls: [{ id: 'a', name: 'x', argsRaw: '' }],
    });
  });

  it.each<[string, unknown, unknown]>([
    [
      'v2',
      { inputTokens: 1, outputTokens: 2, totalTokens: 9, cachedInputTokens: 1, reasoningTokens: 2 },
      { input: 1, output: 2, total: 9, cachedInput: 1, reasoning: 2 },
    ],
    ['v3', { inputTokens: { total: 1 }, outputTokens: { total: 2 } }, { input: 1, output: 2 }],
    [
      'the total that the provider sent',
      { inputTokens: { total: 1 }, outputTokens: { total: 2 }, raw: { totalTokenCount: 9 } },
      { input: 1, output: 2, total: 9 },
    ],
    [
      'D83: v3 with cache writes',
      {
        inputTokens: { total: 9, cacheRead: 2, cacheWrite: 6 },
        outputTokens: { total: 2 },
        raw: { cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 1 } },
      },
      { input: 9, output: 2, cachedInput: 2, cacheWrite: 6, cacheWrite1h: 1 },
    ],
    [
      'D83: Bedrock, by time',
      {
        inputTokens: { total: 9, cacheRead: 2, cacheWrite: 6 },
        outputTokens: { total: 2 },
        raw: {
          cacheDetails: [
            { ttl: '5m', inputTokens: 2 },
            { ttl: '1h', inputTokens: 4 },
          ],
        },
      },
      { input: 9, output: 2, cachedInput: 2, cacheWrite: 6, cacheWrite1h: 4 },
    ],
    [
      'D83: a compatible server, whose package leaves writes in the report',
      {
        inputTokens: { total: 9, cacheRead: 2 },
        outputTokens: { total: 2 },
        raw: { prompt_tokens: 9, cache_creation_input_tokens: 6 },
      },
      { input: 9, output: 2, cachedInput: 2, cacheWrite: 6 },
    ],
    ['none', { inputTokens: { total: undefined }, outputTokens: { total: undefined } }, null],
    ['missing', undefined, null],
  ])('usage of %s', (_what, usage, expected) => {
    expect(read({ ...said('stop'), usage }).response.usage).toEqual(expected);
  });

  it('D83: counts cache reads and writes of Anthropic in v2, which are beside the input', () => {
    const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, cachedInputTokens: 4 };
    const anthropic = { usage: { input_tokens: 1 }, cacheCreationInputTokens: 5 };
    const { response } = read({ ...said('stop'), usage, providerMetadata: { anthropic } });
    expect(response.usage).toEqual({
      input: 10,
      output: 2,
      total: 12,
      cachedInput: 4,
      cacheWrite: 5,
    });
  });

  it('D83: counts cache reads and writes of Bedrock in v2, which are beside the input', () => {
    const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, cachedInputTokens: 4 };
    const bedrock = { usage: { cacheWriteInputTokens: 5 } };
    const { response } = read({ ...said('stop'), usage, providerMetadata: { bedrock } });
    const expected = { input: 10, output: 2, total: 12, cachedInput: 4, cacheWrite: 5 };
    expect(response.usage).toEqual(expected);
  });

  it.each([[null], ['text'], [{}], [{ type: 'source' }], [{ type: 'raw', rawValue: {} }]])(
    'a part %j adds nothing',
    (part) => {
      expect(new AiSdkAnswer('p').read(part)).toEqual([]);
    },
  );
});

describe('state for the provider', () => {
  const options = (n: number) => ({ providerMetadata: { p: { n } } });
  const { response } = read(
    { type: 'reasoning-start', id: 'r1', ...options(1) },
    { type: 'reasoning-delta', id: 'r1', delta: 'Hm.' },
    { type: 'text-start', id: 't1', ...options(2) },
    text('Let ', 't1'),
    call('a', '{}', options(3)),
    { type: 'text-start', id: 't2', ...options(4) },
    text('me look.', 't2'),
    call('b', '{}'),
    said('tool-calls'),
  );
  const message = (content: string, calls = ['a', 'b']): Message =>
    Message.assistant(content, {
      toolCalls: calls.map((id) => ({ id: `own-${id}`, providerId: id, name: 'x', args: {} })),
      ...(response.metadata ? { metadata: response.metadata } : null),
    });
  const kinds = (parts: readonly object[]) => parts.map((part) => Object.values(part)[0] as string);

  it('is sent in order of the parts, each with its own metadata', () => {
    expect(assistantParts(message('Let me look.'), { provider: 'p', version: 'v3' })).toEqual([
      { type: 'reasoning', text: 'Hm.', providerOptions: { p: { n: 1 } } },
      { type: 'text', text: 'Let ', providerOptions: { p: { n: 2 } } },
      {
        type: 'tool-call',
        toolCallId: 'a',
        toolName: 'x',
        input: {},
        providerOptions: { p: { n: 3 } },
      },
      { type: 'text', text: 'me look.', providerOptions: { p: { n: 4 } } },
      { type: 'tool-call', toolCallId: 'b', toolName: 'x', input: {} },
    ]);
  });

  it('sends a changed text as one part before the calls, and omits a dropped one', () => {
    expect(kinds(assistantParts(message('Look!'), { provider: 'p', version: 'v3' }))).toEqual([
      'reasoning',
      'text',
      'tool-call',
      'tool-call',
    ]);
    expect(kinds(assistantParts(message(''), { provider: 'p', version: 'v3' }))).toEqual([
      'reasoning',
      'tool-call',
      'tool-call',
    ]);
  });

  it('sends only text and calls to another provider', () => {
    expect(assistantParts(message('Let me look.'), { provider: 'q', version: 'v3' })).toEqual([
      { type: 'text', text: 'Let me look.' },
      { type: 'tool-call', toolCallId: 'a', toolName: 'x', input: {} },
      { type: 'tool-call', toolCallId: 'b', toolName: 'x', input: {} },
    ]);
  });

  it.each([[{}], [null], [{ provider: 'p' }], [{ provider: 'p', parts: 'x' }], ['x']])(
    'ignores foreign metadata %j',
    (aiSdk) => {
      const odd = Message.assistant('a', { metadata: { aiSdk } });
      expect(assistantParts(odd, { provider: 'p', version: 'v3' })).toEqual([
        { type: 'text', text: 'a' },
      ]);
    },
  );
});
