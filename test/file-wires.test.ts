import { AgentBuilder, AgentState, defineTool, toolContent, type ContentPart } from 'onward';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { json, serve } from './setup/loopback.ts';
import { wires } from './setup/provider-wires.ts';
import { ScriptedProvider } from './setup/scripted-provider.ts';

/** An address of a cloud's secrets, which a user, a tool or a model may give. */
const inner = 'http://169.254.169.254/latest/meta-data';
const svg = btoa('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');

afterEach(() => vi.restoreAllMocks());

describe.each(wires.map((wire) => [wire.name, wire] as const))('%s', (_name, wire) => {
  it.each<[string, ContentPart]>([
    ['an image', { type: 'image', url: `${inner}/a.png` }],
    ['a PDF', { type: 'file', url: `${inner}/a.pdf`, mediaType: 'application/pdf' }],
    ['a file', { type: 'file', url: inner }],
  ])('%s by its address, of a user and of a tool, is not fetched', async (_what, part) => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    const provider = new ScriptedProvider(wire, [{ calls: [{ name: 'look' }] }]);
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      parameters: z.object({}),
      execute: () => toolContent([{ type: 'text', text: 'Seen.' }, part]),
    });
    const agent = AgentBuilder.base().withModel(provider.model).withTools(look).build();
    const state = await agent.run(
      AgentState.empty().withUserMessage([{ type: 'text', text: 'Read it.' }, part]),
    );
    expect(state.output).toBe('next');
    expect(provider.problems).toEqual([]);
    expect(provider.paths).toHaveLength(2);
    expect(provider.paths.filter((path) => path.includes('meta-data'))).toEqual([]);
    expect(fetched).not.toHaveBeenCalled();
    const [, body] = provider.bodies.map((sent) => JSON.stringify(sent));
    expect(body).toContain(inner);
    expect(body).not.toContain('"file_data":"http');
  });

  it('a vector graphic of a user is a short text, which no later turn is rejected for', async () => {
    const provider = new ScriptedProvider(wire, []);
    const agent = AgentBuilder.base().withModel(provider.model).build();
    const state = await agent.run(
      AgentState.empty().withUserMessage([
        { type: 'text', text: 'Describe it.' },
        { type: 'image', data: svg, mediaType: 'image/svg+xml' },
      ]),
    );
    expect(state.output).toBe('next');
    const [body] = provider.bodies.map((sent) => JSON.stringify(sent));
    expect(body).toContain('[Image (image/svg+xml) left out: models read no vector graphics.]');
    expect(body).not.toContain(svg);
  });
});

describe('D90: an address of a server inside of the network', () => {
  it.each(wires.map((wire) => [wire.name, wire] as const))(
    'gets no request through %s, from a user, a tool or the model, in any kind of part, whole and streamed',
    async (_name, wire) => {
      const secret = json({ secret: 'credentials' });
      const server = await serve(...Array.from({ length: 50 }, () => secret));
      const at = (path: string): string => `${server.url}/${path}`;
      const parts: readonly ContentPart[] = [
        { type: 'image', url: at('user.png') },
        { type: 'image', url: at('typed.png'), mediaType: 'image/png' },
        { type: 'file', url: at('user.pdf'), mediaType: 'application/pdf' },
        { type: 'file', url: at('user.txt'), mediaType: 'text/plain' },
        { type: 'file', url: at('user.mp3'), mediaType: 'audio/mpeg' },
        { type: 'file', url: at('user') },
        { type: 'text', text: `See [this](${at('link')}) and ![that](${at('shown.png')}).` },
      ];
      const look = defineTool({
        name: 'look',
        description: 'Looks.',
        parameters: z.object({ url: z.string() }),
        execute: () => toolContent([{ type: 'text', text: 'Seen.' }, ...parts]),
      });
      for (const options of [{}, { wiretap: () => {} }])
        for (const part of parts) {
          const given = at('model.png');
          const text = `![it](${given})`;
          const asked = { text, calls: [{ name: 'look', args: { url: given } }] };
          const provider = new ScriptedProvider(wire, [asked, { text }]);
          const agent = AgentBuilder.base().withModel(provider.model).withTools(look).build();
          const state = await agent.run(
            AgentState.empty().withUserMessage([{ type: 'text', text: 'Read it.' }, part]),
            options,
          );
          expect(state.output).toBe(text);
          // another turn, and another process
          const stored = AgentState.from(JSON.parse(JSON.stringify(state)));
          expect((await agent.run(stored.withUserMessage('more'), options)).output).toBe('next');
          expect(provider.problems).toEqual([]);
        }
      expect(server.requests).toEqual([]);
      // the server would have answered
      expect(await (await fetch(at('itself'))).json()).toEqual({ secret: 'credentials' });
      expect(server.requests).toHaveLength(1);
    },
  );

  const image = (url: string) => [{ type: 'image_url', image_url: { url } }];
  const cites = (url: string) => [{ type: 'url_citation', url, start_index: 0, end_index: 1 }];
  it.each<[string, (url: string) => object]>([
    [
      'OpenAI chat',
      (url) => ({
        choices: [{ message: { content: 'Here.', images: image(url), annotations: cites(url) } }],
      }),
    ],
    [
      'AI SDK with OpenAI chat',
      (url) => ({
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: 'Here.',
              annotations: [
                { type: 'url_citation', url_citation: { ...cites(url)[0], title: 'It' } },
              ],
            },
            finish_reason: 'stop',
          },
        ],
      }),
    ],
    [
      'OpenAI Responses',
      (url) => ({
        status: 'completed',
        output: [
          { type: 'web_search_call', id: 'ws', status: 'completed', action: { url } },
          {
            type: 'message',
            content: [{ type: 'output_text', text: 'Here.', annotations: cites(url) }],
          },
        ],
      }),
    ],
    [
      'AI SDK with Anthropic',
      (url) => ({
        type: 'message',
        id: 'm',
        role: 'assistant',
        model: 'claude',
        content: [
          { type: 'server_tool_use', id: 'srv', name: 'web_fetch', input: { url } },
          { type: 'text', text: 'Here.' },
        ],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    ],
    [
      'AI SDK with Google',
      (url) => ({
        candidates: [
          {
            content: {
              role: 'model',
              parts: [{ text: 'Here.' }, { fileData: { fileUri: url, mimeType: 'image/png' } }],
            },
            finishReason: 'STOP',
            groundingMetadata: { groundingChunks: [{ web: { uri: url, title: 'It' } }] },
          },
        ],
      }),
    ],
  ])('in an answer of %s gets no request, in this turn and the next', async (name, answer) => {
    const server = await serve(json({ secret: 'credentials' }));
    const wire = wires.find((one) => one.name === name);
    let asked = 0;
    const model = wire?.model(async () => {
      asked += 1;
      return Response.json(answer(`${server.url}/model.png`));
    });
    if (!model) throw new Error(`There is no wire ${name}.`);
    const agent = AgentBuilder.base().withModel(model).build();
    const state = await agent.run('go');
    expect(state.output).toBe('Here.');
    await agent.run(state.withUserMessage('more'));
    expect(asked).toBe(2);
    expect(server.requests).toEqual([]);
  });
});
