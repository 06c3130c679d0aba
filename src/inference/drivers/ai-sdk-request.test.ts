import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../test/setup/inference-request.ts';
import type { ContentPart } from '../../messages/content-part.ts';
import { Message } from '../../messages/message.ts';
import { Messages } from '../../messages/messages.ts';
import type { InferenceRequest } from '../inference-driver.ts';
import { callOptions, type AiSdkSettings } from './ai-sdk-request.ts';

const { signal } = new AbortController();
const options = (
  more: Partial<InferenceRequest> = {},
  settings: AiSdkSettings = {},
  version = 'v3',
  provider = 'openai.chat',
): Record<string, unknown> => ({
  ...callOptions(requestOf(more), settings, { provider, version }, signal),
});
const prompt = (messages: readonly Message[], version = 'v3', provider = 'openai.chat'): unknown =>
  options({ messages: Messages.from(messages) }, {}, version, provider)['prompt'];

describe('a request to an AI SDK model', () => {
  it('has only the messages of a plain question', () => {
    expect(options()).toEqual({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      abortSignal: signal,
    });
  });

  it('has settings under their names, and only given ones', () => {
    const settings: AiSdkSettings = { temperature: 0, stop: ['x'], seed: 7, reasoning: 'low' };
    const { prompt: _prompt, abortSignal: _signal, ...rest } = options({}, settings);
    expect(rest).toEqual({ temperature: 0, stopSequences: ['x'], seed: 7, reasoning: 'low' });
  });

  it.each<[InferenceRequest['toolChoice'], object]>([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'required' }],
    [{ tool: 'x' }, { type: 'tool', toolName: 'x' }],
  ])('tool choice %j is %j', (toolChoice, expected) => {
    const tools = [{ name: 'x', description: 'X.', parameters: { type: 'object' } }];
    expect(options({ tools, toolChoice })).toMatchObject({
      toolChoice: expected,
      tools: [{ type: 'function', name: 'x', description: 'X.', inputSchema: { type: 'object' } }],
    });
  });

  it('has the results of one answer in one message, with the ids and names of their calls', () => {
    const asked = Message.assistant('', {
      toolCalls: [
        { id: 'a', providerId: '0', name: 'x', args: {} },
        { id: 'b', providerId: '0', name: 'y', args: {} },
      ],
    });
    const results = [Message.tool('a', '{"n":1}'), Message.tool('b', 'two')];
    expect(prompt([asked, ...results])).toMatchObject([
      { role: 'assistant', content: [{ toolCallId: '0' }, { toolCallId: 'b' }] },
      {
        role: 'tool',
        content: [
          { toolCallId: '0', toolName: 'x', output: { type: 'json', value: { n: 1 } } },
          { toolCallId: 'b', toolName: 'y', output: { type: 'text', value: 'two' } },
        ],
      },
    ]);
  });

  it('omits an empty answer', () => {
    const roles = (prompt([Message.user('a'), Message.assistant('')]) as { role: string }[]).map(
      ({ role }) => role,
    );
    expect(roles).toEqual(['user']);
  });

  it('keeps a system message in the middle if the provider supports it', () => {
    const messages = [Message.system('a'), Message.user('b'), Message.developer('c')];
    const roles = (provider: string) =>
      (prompt(messages, 'v3', provider) as { role: string }[]).map(({ role }) => role);
    expect(roles('openai.chat')).toEqual(['system', 'user', 'system']);
    expect(roles('anthropic.messages')).toEqual(['system', 'user', 'user']);
    expect(roles('google.generative-ai')).toEqual(['system', 'user', 'user']);
  });

  it.each<[string, ContentPart, object, object]>([
    [
      'inline',
      { type: 'image', data: '/9j/4A' },
      { data: '/9j/4A', mediaType: 'image/jpeg' },
      { data: { type: 'data', data: '/9j/4A' }, mediaType: 'image/jpeg' },
    ],
    [
      'by URL',
      { type: 'image', url: 'https://x.org/a' },
      { data: new URL('https://x.org/a'), mediaType: 'image/*' },
      { data: { type: 'url', url: new URL('https://x.org/a') }, mediaType: 'image/*' },
    ],
    [
      'inline as a data URL',
      { type: 'image', url: 'data:image/webp;base64,AAAA' },
      { data: 'AAAA', mediaType: 'image/webp' },
      { data: { type: 'data', data: 'AAAA' }, mediaType: 'image/webp' },
    ],
    [
      'a document',
      { type: 'file', data: 'JVBERi0x', filename: 'a.pdf' },
      { data: 'JVBERi0x', mediaType: 'application/pdf', filename: 'a.pdf' },
      { data: { type: 'data', data: 'JVBERi0x' }, mediaType: 'application/pdf' },
    ],
  ])('has files, %s, in the formats of v3 and v4', (_what, part, v3, v4) => {
    const sent = (version: string) => prompt([Message.user([part])], version);
    expect(sent('v3')).toMatchObject([{ content: [{ type: 'file', ...v3 }] }]);
    expect(sent('v4')).toMatchObject([{ content: [{ type: 'file', ...v4 }] }]);
  });

  it('has a text in place of an image by its address for Bedrock, whose package throws', () => {
    const url = 'https://x.org/a.png';
    expect(prompt([Message.user([{ type: 'image', url }])], 'v3', 'amazon-bedrock')).toMatchObject([
      {
        content: [{ type: 'text', text: expect.stringContaining(`at ${url} left out`) as string }],
      },
    ]);
  });

  it('fails without a retry on an invalid URL', () => {
    expect(() => prompt([Message.user([{ type: 'image', url: 'a.png' }])])).toThrow(/"a\.png"/);
  });
});
