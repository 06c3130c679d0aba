import { describe, expect, it } from 'vitest';
import { completion, toolCall } from '../../../test/setup/loopback.ts';
import type { InferenceResponse } from '../inference-driver.ts';
import { readCompletion } from './chat-completion.ts';

const read = (body: unknown): InferenceResponse | null => readCompletion(body, 'http://test');

describe('a whole answer', () => {
  it.each<[string, unknown, Partial<InferenceResponse>]>([
    ['text', completion('a'), { content: 'a', toolCalls: [], finishReason: 'stop' }],
    ['content as a list', completion({ content: [{ type: 'text', text: 'a' }] }), { content: 'a' }],
    ['content as an empty object', completion({ content: {} }), { content: '' }],
    [
      'a choice without message',
      { choices: [{ finish_reason: 'content_filter' }] },
      { content: '', finishReason: 'content_filter', usage: null },
    ],
    ['the finish reason eos', completion('a', 'eos'), { finishReason: 'stop' }],
    [
      'an empty finish reason with calls',
      completion({ tool_calls: [toolCall('x')] }, ''),
      { finishReason: 'tool_calls' },
    ],
    [
      'the finish reason stop with calls',
      completion({ tool_calls: [toolCall('x')] }, 'stop'),
      { finishReason: 'tool_calls' },
    ],
    ['MAX_TOKENS', completion('a', 'MAX_TOKENS'), { finishReason: 'length' }],
    ['content-filter', completion('a', 'content-filter'), { finishReason: 'content_filter' }],
    [
      'DeepSeek stopped early',
      completion('a', 'insufficient_system_resource'),
      { finishReason: 'error' },
    ],
    [
      'a refusal with the filter',
      completion({ refusal: 'No.' }, 'content_filter'),
      { content: '', refusal: 'No.', finishReason: 'content_filter' },
    ],
    ['reasoning', completion({ content: 'a', reasoning: 'Hm' }), { content: 'a', reasoning: 'Hm' }],
    [
      'parts of reasoning separated by a text',
      completion({
        content: [
          { type: 'thinking', thinking: 'Hm' },
          { type: 'text', text: 'a' },
          { type: 'thinking', thinking: 'So' },
        ],
      }),
      { content: 'a', reasoning: 'Hm\n\nSo' },
    ],
    [
      'details of reasoning',
      completion({
        content: 'a',
        reasoning_details: [
          { type: 'reasoning.summary', index: 0, summary: 'Hm' },
          { type: 'reasoning.summary', index: 1, summary: 'So' },
        ],
      }),
      { content: 'a', reasoning: 'Hm\n\nSo' },
    ],
    ['<think>', completion('<think>Hm</think>\n\na'), { content: 'a', reasoning: 'Hm' }],
    [
      'two calls of index 0 without ids',
      completion({
        tool_calls: [
          { index: 0, ...toolCall('x', { q: 1 }, null) },
          { index: 0, ...toolCall('x', { q: 2 }, '') },
        ],
      }),
      {
        toolCalls: [
          { id: null, name: 'x', args: { q: 1 }, argsRaw: '{"q":1}' },
          { id: null, name: 'x', args: { q: 2 }, argsRaw: '{"q":2}' },
        ],
      },
    ],
    [
      'one id for two calls',
      completion({ tool_calls: [toolCall('x', { q: 1 }, 'a'), toolCall('x', { q: 2 }, 'a')] }),
      {
        toolCalls: [
          { id: 'a', name: 'x', args: { q: 1 }, argsRaw: '{"q":1}' },
          { id: 'a', name: 'x', args: { q: 2 }, argsRaw: '{"q":2}' },
        ],
      },
    ],
    [
      'the legacy form of a call',
      completion({ function_call: { name: 'x', arguments: '{}' } }, 'function_call'),
      { toolCalls: [{ id: null, name: 'x', args: {}, argsRaw: '{}' }], finishReason: 'tool_calls' },
    ],
    [
      'a call without a name',
      completion({ tool_calls: [toolCall('')] }),
      { toolCalls: [], finishReason: 'stop' },
    ],
    [
      'a call that the limit truncated',
      completion({ tool_calls: [toolCall('x', '{"q":')] }, 'length'),
      { toolCalls: [{ id: 'call_1', name: 'x', argsRaw: '{"q":' }], finishReason: 'length' },
    ],
    [
      'the choice of index 0 in any position',
      {
        choices: [
          { index: 1, message: { content: 'b' } },
          { index: 0, message: { content: 'a' } },
        ],
      },
      { content: 'a' },
    ],
    [
      'a finish reason that is a prototype name',
      completion('a', 'constructor'),
      { finishReason: 'stop' },
    ],
  ])('%s', (_what, body, expected) => {
    expect(read(body)).toMatchObject(expected);
  });

  it.each([[null], ['a'], [[]], [{}], [{ choices: [] }], [{ choices: [null] }], [{ choices: {} }]])(
    '%j is not an answer',
    (body) => {
      expect(read(body)).toBeNull();
    },
  );

  it.each<[string, Record<string, unknown>, number | undefined]>([
    ['OpenRouter bills on the wire', { cost: 0.25, is_byok: false }, 0.25],
    ["with the user's own key only a fee is billed", { cost: 0.25, is_byok: true }, undefined],
    ['a cost of other providers has unknown units', { cost: 0.25 }, undefined],
  ])('%s', (_what, more, cost) => {
    const usage = { prompt_tokens: 1, completion_tokens: 1, ...more };
    expect(read({ ...completion('a'), usage })?.cost).toBe(cost);
  });
});
