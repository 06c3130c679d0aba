import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { AgentBuilder, type AgentEvent } from 'onward';
import { openai } from 'onward/drivers/openai';
import { mockTool } from 'onward/testing';
import { describe, expect, it, vi } from 'vitest';
import { json, serve, type Loopback, type Reply } from './setup/loopback.ts';

const answer = (message: object, finish_reason = 'stop'): Reply =>
  json({
    choices: [{ message, finish_reason }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
  });
const done = answer({ role: 'assistant', content: 'Done.' });
const builderAt = (baseURL: string): AgentBuilder =>
  AgentBuilder.base().withModel(openai('m', { apiKey: 'none', baseURL }));
/** The messages of the second request. */
const messagesOf = ({ requests }: Loopback): readonly Record<string, unknown>[] =>
  (requests[1]?.body['messages'] ?? []) as Record<string, unknown>[];

describe('Chat Completions turns', () => {
  it('emit the chunks of a stream that is answered with JSON', async () => {
    const server = await serve(done);
    const events: AgentEvent[] = [];
    const agent = builderAt(server.url).build();
    agent.wiretap((event) => events.push(event));
    const run = agent.stream('go');
    let text = '';
    for await (const piece of run.textStream) text += piece;
    expect(text).toBe('Done.');
    expect(events.filter(({ type }) => type === 'StreamChunk')).toHaveLength(1);
  });

  it('return a custom call and its input as the provider sent them', async () => {
    const call = { id: 'c1', type: 'custom', custom: { name: 'lookup', input: 'select 1' } };
    const server = await serve(answer({ content: null, tool_calls: [call] }, 'tool_calls'), done);
    const lookup = mockTool('lookup', 'found');
    const state = await builderAt(server.url).withTools(lookup).build().run('go');
    expect(state.output).toBe('Done.');
    expect(lookup.calls).toEqual([{ input: 'select 1' }]);
    expect(messagesOf(server)[1]).toMatchObject({ tool_calls: [call] });
  });

  it('return the signature of a message', async () => {
    const message = { content: 'Hm.', thought_signature: 'sig' };
    const server = await serve(answer(message), done);
    const agent = builderAt(server.url).build();
    const first = await agent.run('go');
    await agent.run(first.withUserMessage('more'));
    expect(messagesOf(server)[1]).toMatchObject(message);
  });

  it('send no blank text and no file by its address, and fetch none', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    const server = await serve(answer({ content: ' \n' }), done);
    const agent = builderAt(server.url).build();
    const first = await agent.run('go');
    const url = 'https://files.example.com/report.pdf';
    await agent.run(
      first.withUserMessage([
        { type: 'text', text: 'Read it.' },
        { type: 'file', url, mediaType: 'application/pdf' },
      ]),
    );
    const sent = messagesOf(server);
    expect(sent.map(({ role }) => role)).toEqual(['user', 'user']);
    expect(JSON.stringify(sent)).not.toContain('file_data');
    expect(fetched.mock.calls.filter(([to]) => String(to).includes('files.example.com'))).toEqual(
      [],
    );
    fetched.mockRestore();
  });
});

describe('Google turns', () => {
  it('keep a file of an answer as a part of the message', async () => {
    const data = 'iVBORw0KGgo=';
    const parts = [{ text: 'Here.' }, { inlineData: { mimeType: 'image/png', data } }];
    const server = await serve(
      json({ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] }),
    );
    const model = createGoogleGenerativeAI({ apiKey: 'none', baseURL: server.url })('gemini');
    const state = await AgentBuilder.base().withModel(model).build().run('Draw.');
    expect(state.status).toBe('completed');
    expect(state.messages.last()?.content).toMatchObject([
      { type: 'text', text: 'Here.' },
      { type: 'image', mediaType: 'image/png' },
    ]);
    expect(JSON.stringify(state.messages.last()?.content)).toContain(data);
  });

  it('fail with empty_answer on an empty answer with an unknown word', async () => {
    const server = await serve(
      json({ candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'LANGUAGE' }] }),
    );
    const model = createGoogleGenerativeAI({ apiKey: 'none', baseURL: server.url })('gemini');
    const state = await AgentBuilder.base().withModel(model).build().run('go');
    expect(state).toMatchObject({ status: 'failed' });
    expect(state.steps.at(-1)?.errors[0]).toMatchObject({ code: 'empty_answer' });
  });
});
