import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { AgentBuilder, type AgentEvent, type ModelInput } from 'onward';
import { openai } from 'onward/drivers/openai';
import { describe, expect, it } from 'vitest';
import { delta, serve } from './setup/loopback.ts';

const models: Record<string, (baseURL: string) => ModelInput> = {
  'the OpenAI driver': (baseURL) => openai('qwen', { baseURL }),
  'the AI SDK driver': (baseURL) =>
    createOpenAICompatible({ name: 'local', apiKey: 'none', baseURL })('qwen'),
};
const thought = ['Let me ', 'see what ', 'there is.'];
const text = ['<thi', 'nk>', ...thought, '</th', 'ink>\n\n', 'Two ', 'lamps.'];

describe.each(Object.entries(models))('<think> in a text stream, through %s', (_name, model) => {
  it('shows reasoning as it comes, apart from the text', async () => {
    const seen: AgentEvent[] = [];
    let shownBefore = '';
    const reasoningOf = (): string =>
      seen.flatMap((event) => (event.type === 'ReasoningDelta' ? [event.content] : [])).join('');
    const server = await serve(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const write = (chunk: unknown): void =>
        void response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      for (const [i, piece] of text.entries()) {
        // the rest is sent only after the reader has seen most of the thought
        if (i === 5)
          for (let n = 0; n < 200 && !reasoningOf().includes('see'); n++)
            await new Promise((resolve) => setTimeout(resolve, 10));
        if (i === 5) shownBefore = reasoningOf();
        write(delta(piece));
      }
      write(delta({}, 'stop'));
      response.end('data: [DONE]\n\n');
    });
    const state = await AgentBuilder.base()
      .withModel(model(server.url))
      .build()
      .run('go', { wiretap: (event) => seen.push(event) });
    expect(shownBefore).toContain('Let me see');
    expect(reasoningOf()).toBe(thought.join(''));
    const said = seen.flatMap((event) => (event.type === 'StreamChunk' ? [event.content] : []));
    expect(said.join('')).toBe('Two lamps.');
    expect(state.output).toBe('Two lamps.');
    expect(state.messages.last()?.reasoning).toBe(thought.join(''));
  });
});
