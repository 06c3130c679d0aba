import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { AgentBuilder, AgentState } from 'onward';
import { describe, expect, it } from 'vitest';
import { json, serve, type Reply } from './setup/loopback.ts';
import type { Json } from './setup/wire.ts';

const data = 'iVBORw0KGgo=';
const image = { inlineData: { mimeType: 'image/png', data } };
const parts = [{ text: 'Here is a cat: ' }, image, { text: 'and no dog.' }];
const answer = (given: readonly Json[], finishReason?: string): Json => ({
  candidates: [{ content: { role: 'model', parts: given }, ...(finishReason && { finishReason }) }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
});

const streamed: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const part of parts) response.write(`data: ${JSON.stringify(answer([part]))}\n\n`);
  response.end(`data: ${JSON.stringify(answer([{ text: '' }], 'STOP'))}\n\n`);
};

describe('an image in an answer of Gemini', () => {
  it.each(['whole', 'streamed'])(
    '%s: is a part of the message, goes back to Gemini, and is described to another model',
    async (how) => {
      const isStream = how === 'streamed';
      const reply = isStream ? streamed : json(answer(parts, 'STOP'));
      const server = await serve(reply, reply);
      const agent = AgentBuilder.base()
        .withModel(
          createGoogleGenerativeAI({ apiKey: 'none', baseURL: server.url })('gemini-3-pro-image'),
        )
        .build();
      const options = isStream ? { wiretap: () => {} } : {};
      const state = await agent.run('Draw a cat.', options);
      const text = 'Here is a cat: and no dog.';
      expect(state.messages.last()?.content).toEqual([
        { type: 'text', text },
        { type: 'image', data, mediaType: 'image/png' },
      ]);
      expect(state.output).toBe(text);
      expect(JSON.stringify(state).split(data)).toHaveLength(2);
      const stored = AgentState.from(JSON.parse(JSON.stringify(state)));
      await agent.run(stored.withUserMessage('Thanks.'), options);
      const { contents } = server.requests[1]?.body ?? {};
      expect((contents as Json[])[1]).toMatchObject({ role: 'model', parts });

      const other = await serve(json({}, 500));
      await AgentBuilder.base()
        .withModel(createAnthropic({ apiKey: 'none', baseURL: other.url })('claude'))
        .build()
        .run(stored.withUserMessage('Thanks.'));
      const body = JSON.stringify(other.requests[0]?.body);
      expect(body).toContain('[Image (image/png) left out: this provider did not create it.]');
      expect(body).not.toContain(data);
    },
  );
});
