import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../test/setup/inference-request.ts';
import { Message } from '../../messages/message.ts';
import { Messages } from '../../messages/messages.ts';
import type { InferenceRequest } from '../inference-driver.ts';
import { chatBody, type ChatSettings } from './chat-request.ts';
import type { ChatDialect } from './chat-wire.ts';

const server = 'http://here/v1';
const own: ChatDialect = { maxTokensField: 'max_tokens', developerRole: 'system', server };
const openai: ChatDialect = {
  maxTokensField: 'max_completion_tokens',
  developerRole: 'developer',
  server,
};
const search = { name: 'search', description: 'Finds.', parameters: { type: 'object' } };

const body = (
  more: Partial<InferenceRequest> = {},
  settings: ChatSettings = {},
  dialect: ChatDialect = own,
  isStream = false,
) => chatBody('m', requestOf(more), settings, dialect, isStream);
const wire = (...messages: readonly Message[]): unknown =>
  body({ messages: Messages.from(messages) })['messages'];

describe('the body of a request', () => {
  it('has only the messages of a plain question', () => {
    expect(body()).toEqual({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
  });

  it('requests the usage of a stream, unless streamUsage is false', () => {
    expect(body({}, {}, own, true)).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(body({}, { streamUsage: false }, own, true)).not.toHaveProperty('stream_options');
  });

  it.each<[ChatSettings, Record<string, unknown>]>([
    [{ temperature: 0 }, { temperature: 0 }],
    [{ topP: 0.5 }, { top_p: 0.5 }],
    [{ maxOutputTokens: 9 }, { max_tokens: 9 }],
    [{ stop: ['x'] }, { stop: ['x'] }],
    [{ seed: 7 }, { seed: 7 }],
    [{ reasoningEffort: 'low' }, { reasoning_effort: 'low' }],
    [{ promptCacheKey: 'k' }, { prompt_cache_key: 'k' }],
    [{ extraBody: { top_k: 4 } }, { top_k: 4 }],
    [{ temperature: 1, extraBody: { temperature: 2 } }, { temperature: 2 }],
  ])('%j -> %j', (settings, expected) => {
    const { model, messages, ...rest } = body({}, settings);
    expect(model).toBe('m');
    expect(messages).toBeDefined();
    expect(rest).toEqual(expected);
  });

  it('uses newer names for OpenAI', () => {
    const messages = Messages.from([Message.developer('Be brief.'), Message.user('hi')]);
    expect(body({ messages }, { maxOutputTokens: 9 }, openai)).toMatchObject({
      max_completion_tokens: 9,
      messages: [{ role: 'developer', content: 'Be brief.' }, { role: 'user' }],
    });
    expect(body({ messages }, { maxOutputTokens: 9 })).toMatchObject({
      max_tokens: 9,
      messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }],
    });
  });

  it.each<[InferenceRequest['toolChoice'], unknown]>([
    ['auto', undefined],
    ['none', 'none'],
    ['required', 'required'],
    [{ tool: 'search' }, { type: 'function', function: { name: 'search' } }],
  ])('tool choice %j -> %j', (toolChoice, expected) => {
    const sent = body({ tools: [search], toolChoice }, { parallelToolCalls: false });
    expect(sent['tool_choice']).toEqual(expected);
    expect(sent['parallel_tool_calls']).toBe(false);
    expect(sent['tools']).toEqual([{ type: 'function', function: search }]);
  });

  it('has no tool fields without tools', () => {
    const sent = body({ toolChoice: 'none' }, { parallelToolCalls: true });
    expect(Object.keys(sent)).toEqual(['model', 'messages']);
  });
});

describe('a response format', () => {
  const closed = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  };
  const format = (schema: object, settings: ChatSettings = {}) =>
    body(
      { system: 'Be brief.', responseFormat: { name: 'answer', schema: schema as never } },
      settings,
    );

  it('is strict if the schema allows it', () => {
    const json_schema = (schema: object) => format(schema)['response_format'];
    expect(json_schema(closed)).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema: closed, strict: true },
    });
    expect(json_schema({ type: 'object' })).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object' }, strict: false },
    });
  });

  it('uses the given strictness', () => {
    expect(format(closed, { strictSchema: false })).toMatchObject({
      response_format: { json_schema: { strict: false } },
    });
  });

  it('puts the schema into the prompt for a server that accepts none', () => {
    const sent = format(closed, { responseFormatMode: 'json_object' });
    expect(sent['response_format']).toEqual({ type: 'json_object' });
    const [{ content }] = sent['messages'] as [{ content: string }];
    expect(content).toMatch(/^Be brief\.\n\nAnswer with one JSON value/);
    expect(content).toContain(JSON.stringify(closed));
  });
});

describe('messages on the wire', () => {
  const asked = Message.assistant('', {
    toolCalls: [
      { id: 'call_a', providerId: '0', name: 'search', args: { q: 1 } },
      { id: 'call_b', name: 'search', args: {} },
    ],
  });

  it("have the provider's ids in calls and results", () => {
    expect(wire(asked, Message.tool('call_a', 'one'), Message.tool('call_b', 'two'))).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: '0', type: 'function', function: { name: 'search', arguments: '{"q":1}' } },
          { id: 'call_b', type: 'function', function: { name: 'search', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: '0', content: 'one' },
      { role: 'tool', tool_call_id: 'call_b', content: 'two' },
    ]);
  });

  it('does not send an id twice that the provider used for two calls', () => {
    const twice = Message.assistant('', {
      toolCalls: [
        { id: 'call_a', providerId: '0', name: 'x', args: {} },
        { id: 'call_b', providerId: '0', name: 'x', args: {} },
      ],
    });
    expect(wire(twice, Message.tool('call_a', '1'), Message.tool('call_b', '2'))).toMatchObject([
      { tool_calls: [{ id: '0' }, { id: 'call_b' }] },
      { tool_call_id: '0' },
      { tool_call_id: 'call_b' },
    ]);
  });

  it('sends a call that could not be read without its arguments', () => {
    const broken = Message.assistant('', {
      toolCalls: [{ id: 'a', name: 'x', args: {}, argsRaw: '{"q":' }],
    });
    expect(wire(broken)).toMatchObject([{ tool_calls: [{ function: { arguments: '{}' } }] }]);
  });

  it('keeps text next to calls, and omits an empty answer', () => {
    const said = Message.assistant('Let me look.', { toolCalls: asked.toolCalls });
    expect(wire(said)).toMatchObject([{ content: 'Let me look.' }]);
    expect(wire(Message.user('a'), Message.assistant(''), Message.user('b'))).toEqual([
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ]);
  });

  it.each<[string, Parameters<typeof Message.user>[0], unknown]>([
    ['text', [{ type: 'text', text: 'a' }], { type: 'text', text: 'a' }],
    [
      'an image by URL',
      [{ type: 'image', url: 'https://x/a.png' }],
      { type: 'image_url', image_url: { url: 'https://x/a.png' } },
    ],
    [
      'an image inline',
      [{ type: 'image', data: 'AAAA', mediaType: 'image/webp' }],
      { type: 'image_url', image_url: { url: 'data:image/webp;base64,AAAA' } },
    ],
    [
      'an image with a type from its bytes',
      [{ type: 'image', data: '/9j/4AAQ' }],
      { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,/9j/4AAQ' } },
    ],
    [
      'a file that is an image',
      [{ type: 'file', data: 'iVBORw0KGgoAAA' }],
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgoAAA' } },
    ],
    [
      'a document',
      [{ type: 'file', data: 'JVBERi0x', filename: 'a.pdf' }],
      {
        type: 'file',
        file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0x' },
      },
    ],
    [
      'an audio file',
      [{ type: 'file', data: 'AAAA', mediaType: 'audio/mpeg' }],
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
    ],
  ])('parts: %s', (_what, content, expected) => {
    expect(wire(Message.user(content))).toEqual([{ role: 'user', content: [expected] }]);
  });
});

describe('state for a server', () => {
  const kept = (chat: object): Message =>
    Message.assistant('', {
      toolCalls: [{ id: 'a', name: 'x', args: {} }],
      metadata: { reasoning: 'Hm.', chat: { server, ...chat } },
    });

  it.each<[string, object, unknown]>([
    [
      'DeepSeek: its reasoning',
      { reasoningField: 'reasoning_content' },
      { reasoning_content: 'Hm.' },
    ],
    [
      'OpenRouter: its details',
      { reasoningDetails: [{ type: 'reasoning.encrypted', data: 'x' }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] },
    ],
    [
      'Gemini: the signature of a call',
      { calls: [{ google: { thought_signature: 's' } }] },
      { tool_calls: [{ id: 'a', extra_content: { google: { thought_signature: 's' } } }] },
    ],
  ])('%s', (_what, chat, expected) => {
    expect(wire(kept(chat))).toMatchObject([expected]);
  });

  it('sends the reasoning of the last answer only in a turn with calls', () => {
    const metadata = { reasoning: 'Hm.', chat: { server, reasoningField: 'reasoning_content' } };
    const said = Message.assistant('Done.', { metadata });
    const asked = kept({ reasoningField: 'reasoning_content' });
    const sent = wire(
      Message.user('1'),
      said,
      Message.user('2'),
      asked,
      Message.tool('a', ''),
      said,
    );
    const reasoned = (sent as object[]).map((message) => 'reasoning_content' in message);
    expect(reasoned).toEqual([false, false, false, true, false, true]);
  });

  it('is not sent to another server', () => {
    const sent = JSON.stringify(
      wire(
        kept({
          server: 'http://elsewhere',
          reasoningField: 'reasoning_content',
          calls: [{ a: 1 }],
        }),
      ),
    );
    expect(sent).not.toContain('reasoning_content');
    expect(sent).not.toContain('extra_content');
  });
});
