import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { AgentState, createAgent, Message, type ModelInput } from 'onward';
import { openai, type OpenAIOptions } from 'onward/drivers/openai';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { builder, lookup, marksIn, unmarked, wire, type Wire } from './setup/prompt-cache.ts';

describe('D83: providers without marks', () => {
  const geminiSays = (...parts: readonly object[]) => ({
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
  });
  const chatSays = (message: object) => ({
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', ...message } }],
  });
  const chatCall = {
    id: 'call_1',
    type: 'function',
    function: { name: 'lookup', arguments: '{}' },
  };
  const responseSays = (...output: readonly object[]) => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'gpt-5',
    status: 'completed',
    output,
    usage: { input_tokens: 1, output_tokens: 1 },
  });
  const item = {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_1',
    name: 'lookup',
    arguments: '{}',
    status: 'completed',
  };
  const text = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
  };

  it.each<[string, (server: Wire) => ModelInput, readonly object[]]>([
    [
      'Gemini',
      ({ fetch }) => createGoogleGenerativeAI({ apiKey: 'none', fetch })('gemini-2.5-pro'),
      [
        geminiSays({ functionCall: { id: 'call_1', name: 'lookup', args: {} } }),
        geminiSays({ text: 'Done.' }),
      ],
    ],
    [
      'Chat Completions of @ai-sdk/openai',
      ({ fetch }) => createOpenAI({ apiKey: 'none', fetch }).chat('gpt-4o'),
      [chatSays({ content: null, tool_calls: [chatCall] }), chatSays({ content: 'Done.' })],
    ],
    [
      'Responses of @ai-sdk/openai',
      ({ fetch }) => createOpenAI({ apiKey: 'none', fetch }).responses('gpt-5'),
      [responseSays(item), responseSays(text)],
    ],
    [
      'Chat Completions',
      ({ fetch }) => openai('gpt-4o', { apiKey: 'none', fetch, api: 'chat' }),
      [chatSays({ content: null, tool_calls: [chatCall] }), chatSays({ content: 'Done.' })],
    ],
    [
      'Responses',
      ({ fetch }) => openai('gpt-5', { apiKey: 'none', fetch }),
      [responseSays(item), responseSays(text)],
    ],
  ])('get the same request with and without them: %s', async (_name, modelAt, answers) => {
    const [plain, marked] = [wire(...answers), wire(...answers)];
    const tool = mockTool('lookup', 'found', { cache: true });
    await createAgent({ model: modelAt(plain), systemPrompt: 'Be kind.', tools: [lookup] }).run(
      'go',
    );
    const state = await createAgent({
      model: modelAt(marked),
      systemPrompt: { text: 'Be kind.', cache: '1h' },
      tools: [tool],
    }).run(AgentState.empty().withMessages(Message.user('go', { cache: true })));
    expect(state.output).toBe('Done.');
    expect(marked.sent).toEqual(plain.sent);
    expect(marked.sent).toHaveLength(2);
    expect(marked.sent.join('')).not.toMatch(/cache_?control|cache_?point/i);
  });
});

describe('D83: cache marks in Chat Completions', () => {
  const says = (message: object) => ({ choices: [{ message: { role: 'assistant', ...message } }] });
  const calls = (id: string) =>
    says({
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'lookup', arguments: '{}' } }],
    });
  const done = says({ content: 'Done.' });
  const at = ({ fetch }: Wire, name: string, options: OpenAIOptions = {}) =>
    openai(name, { baseURL: 'https://openrouter.ai/api/v1', apiKey: 'none', fetch, ...options });

  it('of Claude at OpenRouter are automatic, on text parts, and leave the prefix the same', async () => {
    const server = wire(calls('a'), calls('b'), done);
    await builder(at(server, 'anthropic/claude-sonnet-4.6')).build().run('go');
    expect(server.bodies().map((body) => marksIn(body))).toEqual([
      ['messages.0.content.0 5m', 'messages.1.content.0 5m'],
      ['messages.0.content.0 5m', 'messages.1.content.0 5m', 'messages.3.content.0 5m'],
      ['messages.0.content.0 5m', 'messages.3.content.0 5m', 'messages.5.content.0 5m'],
    ]);
    const [one = '', two = '', three = ''] = server.sent.map(unmarked);
    const messagesOf = (body: string) => body.slice(0, body.indexOf('],"tools"'));
    expect(two.startsWith(messagesOf(one))).toBe(true);
    expect(three.startsWith(messagesOf(two))).toBe(true);
  });

  it.each<[string, string, OpenAIOptions, string[]]>([
    ['another model at OpenRouter', 'openai/gpt-5', {}, ['messages.1.content.0 1h', 'tools.0 1h']],
    [
      'OpenRouter without automatic ones',
      'anthropic/claude-sonnet-4.6',
      { promptCache: 'off' },
      ['messages.1.content.0 1h', 'tools.0 1h'],
    ],
    ['another server', 'claude', { baseURL: 'http://127.0.0.1:4000/v1' }, []],
    [
      'another server that accepts them',
      'claude',
      { baseURL: 'http://127.0.0.1:4000/v1', promptCache: 'on' },
      ['messages.0.content.0 1h', 'messages.1.content.0 1h'],
    ],
  ])('of the user leave to %s', async (_what, name, options, expected) => {
    const server = wire(done);
    await createAgent({
      model: at(server, name, options),
      systemPrompt: 'Be kind.',
      tools: [mockTool('lookup', 'found', { cache: true })],
    }).run(
      AgentState.empty().withMessages(
        Message.user(
          [
            { type: 'text', text: 'What is it?' },
            { type: 'image', url: 'https://example.org/a.png' },
          ],
          { cache: '1h' },
        ),
      ),
    );
    expect(marksIn(server.bodies()[0])).toEqual(expected);
  });
});
