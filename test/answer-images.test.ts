import { AgentBuilder, type Agent } from 'onward';
import { openai } from 'onward/drivers/openai';
import { describe, expect, it } from 'vitest';
import { requestOf } from './setup/inference-request.ts';
import { completion, delta, json, serve, sse } from './setup/loopback.ts';
import { response, said, streamed, type Json } from './setup/responses-samples.ts';

const png = 'data:image/png;base64,iVBORw0KGgo=';
const chatAt = (baseURL: string): Agent =>
  AgentBuilder.base()
    .withModel(openai('m', { apiKey: 'none', baseURL }))
    .build();

describe('images in answers of Chat Completions', () => {
  it.each([
    [
      'beside the text',
      { content: 'Here.', images: [{ type: 'image_url', image_url: { url: png } }] },
    ],
    [
      'among the parts',
      {
        content: [
          { type: 'text', text: 'Here.' },
          { type: 'image_url', image_url: png },
        ],
      },
    ],
  ])(
    'keep images %s as parts of the message, once, and name them to a model that takes none',
    async (_where, message) => {
      const server = await serve(
        json(completion(message)),
        sse(delta(message), delta({ images: [{ image_url: { url: png } }] }), delta({}, 'stop')),
        json(completion('Done.')),
      );
      const agent = chatAt(server.url);
      const whole = await agent.run('go');
      const streamed = await agent.stream('go', {}).state;
      for (const state of [whole, streamed]) {
        expect(state).toMatchObject({ status: 'completed', output: 'Here.' });
        expect(state.messages.at(-1)?.content).toEqual([
          { type: 'text', text: 'Here.' },
          { type: 'image', data: 'iVBORw0KGgo=', mediaType: 'image/png' },
        ]);
      }
      await agent.run(whole.withUserMessage('more'));
      const sent = server.requests[2]?.body['messages'] as { content: string }[];
      expect(sent[1]?.content).toMatch(/^Here\.\n\[Image \(image\/png\) left out/);
    },
  );

  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'image.png'])(
    'keep no image at %s',
    async (url) => {
      const server = await serve(
        json(completion({ content: 'Here.', images: [{ image_url: { url } }] })),
      );
      const state = await chatAt(server.url).run('go');
      expect(state.messages.at(-1)?.content).toBe('Here.');
    },
  );
});

describe('images in answers of Responses', () => {
  it.each([
    ['as a whole', json],
    ['streamed', streamed],
  ])(
    'keep an image as a part of the message, and return it to its call, %s',
    async (_how, reply) => {
      const image = {
        id: 'ig_1',
        type: 'image_generation_call',
        status: 'completed',
        output_format: 'webp',
      };
      const server = await serve(
        reply(response([{ ...image, result: 'UklGRg==' }, said('A cat.')])),
        json(response([said('Done.')])),
        json(response([said('Done.')])),
      );
      const agentOf = (model: string) =>
        AgentBuilder.base()
          .withModel(openai(model, { baseURL: server.url, api: 'responses' }))
          .build();
      const agent = agentOf('gpt-5');
      const state = await agent.stream('Draw a cat.').state;
      expect(state.messages.at(-1)?.content).toEqual([
        { type: 'text', text: 'A cat.' },
        { type: 'image', data: 'UklGRg==', mediaType: 'image/webp' },
      ]);
      expect(JSON.stringify(state).split('UklGRg==')).toHaveLength(2);
      const stored = await agent.restore(JSON.parse(JSON.stringify(state)));
      await agent.run(stored.withUserMessage('Thanks.'));
      await agentOf('gpt-4o').run(stored.withUserMessage('Thanks.'));
      const [, own, other] = server.requests.map(({ body }) => body['input'] as Json[]);
      expect(own?.slice(1, 3)).toEqual([
        { ...image, result: 'UklGRg==' },
        { type: 'message', role: 'assistant', content: 'A cat.' },
      ]);
      expect(other?.[1]).toEqual({
        role: 'assistant',
        content: 'A cat.\n[Image (image/webp) left out: this model did not create it.]',
      });
    },
  );

  it('answer with an image alone', async () => {
    const image = { id: 'ig_1', type: 'image_generation_call', result: 'iVBORw0KGgo=' };
    const server = await serve(json(response([image], { status: 'strange' })));
    const driver = openai('gpt-5', { baseURL: server.url, api: 'responses' });
    const answer = await driver.infer(requestOf(), { signal: new AbortController().signal });
    expect(answer).toMatchObject({ content: '', finishReason: 'stop' });
    expect(answer.files).toEqual([{ type: 'image', data: 'iVBORw0KGgo=' }]);
  });
});
