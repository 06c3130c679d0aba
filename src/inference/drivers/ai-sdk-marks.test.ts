import { describe, expect, it } from 'vitest';
import { Message } from '../../messages/message.ts';
import { Messages } from '../../messages/messages.ts';
import type { InferenceRequest } from '../inference-driver.ts';
import { aiSdkMarkWire } from './ai-sdk-marks.ts';
import { callOptions } from './ai-sdk-request.ts';
import type { PromptCache } from './cache-marks.ts';

const request: InferenceRequest = {
  system: 'Be kind.',
  messages: Messages.from([
    Message.user('go'),
    Message.assistant('', {
      toolCalls: [
        { id: 'a', name: 'lookup', args: {} },
        { id: 'b', name: 'lookup', args: {} },
      ],
    }),
    Message.tool('a', 'one', { cache: '1h' }),
    Message.tool('b', 'two'),
  ]),
  tools: [{ name: 'lookup', description: 'L.', parameters: {}, cache: '5m' }],
  toolChoice: 'auto',
  responseFormat: null,
};

interface Part {
  readonly role: string;
  readonly content: string | readonly unknown[];
  readonly providerOptions?: unknown;
}

/** The provider options with marks, and how many results each tool message has. */
function sent(provider: string, modelId: string, mode: PromptCache = 'auto') {
  const marks = aiSdkMarkWire({ provider, modelId }, mode);
  const { signal } = new AbortController();
  const { prompt, tools } = callOptions(
    request,
    {},
    { provider, version: 'v3', marks },
    signal,
  ) as {
    readonly prompt: readonly Part[];
    readonly tools: readonly { readonly providerOptions?: unknown }[];
  };
  return {
    prompt: prompt.map(({ providerOptions }) => providerOptions ?? null),
    tools: tools.map(({ providerOptions }) => providerOptions ?? null),
    results: prompt.flatMap(({ role, content }) => (role === 'tool' ? [content.length] : [])),
  };
}

const control = { anthropic: { cacheControl: { type: 'ephemeral' } } };
const controlHour = { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } } };
const point = { bedrock: { cachePoint: { type: 'default' } } };
const pointHour = { bedrock: { cachePoint: { type: 'default', ttl: '1h' } } };
const atRouter = { openrouter: { cacheControl: { type: 'ephemeral' } } };

describe('D83: marks in the words of each package', () => {
  it.each([
    ['anthropic.messages', 'claude-sonnet-4-6'],
    ['vertex.anthropic.messages', 'claude-sonnet-4-6@20260101'],
    ['bedrock.anthropic.messages', 'anthropic.claude-sonnet-4-6-v1:0'],
    ['gateway', 'anthropic/claude-sonnet-4.6'],
  ])('%s %s: cacheControl on messages and tools', (provider, model) => {
    expect(sent(provider, model)).toEqual({
      prompt: [controlHour, null, null, controlHour, control],
      tools: [controlHour],
      results: [1, 1],
    });
  });

  it('amazon-bedrock: cachePoint, and the mark of a tool on the system prompt', () => {
    expect(sent('amazon-bedrock', 'eu.anthropic.claude-sonnet-4-6-v1:0')).toEqual({
      prompt: [pointHour, pointHour, null, pointHour, point],
      tools: [null],
      results: [1, 1],
    });
    expect(sent('amazon-bedrock', 'amazon.nova-pro-v1:0').prompt).toEqual([
      pointHour,
      null,
      null,
      pointHour,
      null,
    ]);
  });

  it.each([
    ['amazon-bedrock', 'meta.llama3-3-70b-instruct-v1:0'],
    ['amazon-bedrock', 'anthropic.claude-3-haiku-20240307-v1:0'],
    ['google.generative-ai', 'gemini-2.5-pro'],
    ['openai.responses', 'gpt-5'],
    ['gateway', 'openai/gpt-5'],
    ['my-proxy.chat', 'claude'],
  ])('%s %s: none', (provider, model) => {
    expect(sent(provider, model)).toEqual({
      prompt: [null, null, null, null],
      tools: [null],
      results: [2],
    });
  });

  it('openrouter: messages only, because its package marks results where the server does not expect it', () => {
    expect(sent('openrouter', 'anthropic/claude-sonnet-4.6')).toEqual({
      prompt: [atRouter, atRouter, null, null],
      tools: [null],
      results: [2],
    });
    expect(sent('openrouter', 'openai/gpt-5').prompt).toEqual([atRouter, null, null, null]);
  });

  it('another package of Anthropic: with promptCache on', () => {
    expect(sent('my-claude', 'claude', 'on').tools).toEqual([controlHour]);
    expect(sent('my-claude', 'claude', 'off').tools).toEqual([null]);
    expect(sent('amazon-bedrock', 'arn:aws:bedrock:eu-1:1:profile/x', 'on').prompt[0]).toEqual(
      pointHour,
    );
  });
});
