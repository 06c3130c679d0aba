import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI as openAiV2 } from 'ai-sdk-openai-v2';
import { createOpenAI as openAiV4 } from 'ai-sdk-openai-v4';
import {
  AgentBuilder,
  defineTool,
  ErrorPolicy,
  SlimAgentStateSerializer,
  toolContent,
  type Hook,
  type ToolContentPart,
} from 'onward';
import { mockTool } from 'onward/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hostileSvg, pdf, png } from './setup/content-samples.ts';
import { wires, type Wire } from './setup/provider-wires.ts';
import { ScriptedProvider } from './setup/scripted-provider.ts';

type Json = Record<string, unknown>;

const parts: readonly ToolContentPart[] = [
  { type: 'text', text: 'The page:' },
  { type: 'json', value: { title: 'Home' } },
  { type: 'image', data: png },
  { type: 'file', data: pdf, filename: 'a.pdf' },
  { type: 'image', data: hostileSvg, mediaType: 'image/svg+xml' },
  { type: 'file', data: btoa('a,b'), filename: 'a.csv' },
  { type: 'file', data: btoa('ID3 sound'), filename: 'a.mp3' },
  { type: 'image', url: 'https://example.com/a.png' },
];

/** Runs one step with two calls and returns the request after it. */
async function requestAfter(wire: Pick<Wire, 'model'> & Wire): Promise<Json> {
  const provider = new ScriptedProvider(wire, [{ calls: [{ name: 'look' }, { name: 'other' }] }]);
  const look = defineTool({
    name: 'look',
    description: 'Looks at the page.',
    execute: () => toolContent(parts),
  });
  const agent = AgentBuilder.base()
    .withModel(provider.model)
    .withTools(look, mockTool('other', 'seen'))
    .build();
  const state = await agent.run('go');
  expect(provider.problems).toEqual([]);
  expect(state.output).toBe('next');
  expect(provider.bodies).toHaveLength(2);
  return provider.bodies[1] ?? {};
}

const wireNamed = (name: string): Wire => wires.find((wire) => wire.name === name) as Wire;
const from = (body: Json, list: string, role: string): Json[] =>
  (body[list] as Json[]).filter((item) => item['role'] === role || item['type'] === role);

const note = (what: string, why: string): string => `[${what} left out: ${why}.]`;
const noPart = 'this provider accepts no such part in a tool result';
const svg = 'Image (image/svg+xml)';
const sound = 'File "a.mp3" (audio/mpeg)';
const sheet = 'File "a.csv" (text/csv)';

// no test may reach the address of a part
beforeEach(() => {
  vi.stubGlobal('fetch', () => {
    throw new Error('An address was fetched.');
  });
});
afterEach(() => vi.unstubAllGlobals());

describe('parts of a result', () => {
  it.each(['OpenAI chat', 'AI SDK with OpenAI chat'])(
    '%s: texts, and notes for what the API does not accept',
    async (name) => {
      const tools = from(await requestAfter(wireNamed(name)), 'messages', 'tool');
      const why = name === 'OpenAI chat' ? 'this API accepts only text here' : noPart;
      expect(tools.map(({ content }) => content)).toEqual([
        [
          'The page:',
          '{"title":"Home"}',
          note('Image (image/png)', why),
          note('File "a.pdf" (application/pdf)', why),
          note(svg, why),
          note(sheet, why),
          note(sound, why),
          note('Image (image/png) at https://example.com/a.png', why),
        ].join('\n'),
        'seen',
      ]);
    },
  );

  const asResponses = (why: string) => [
    { type: 'input_text', text: 'The page:' },
    { type: 'input_text', text: '{"title":"Home"}' },
    { type: 'input_image', image_url: `data:image/png;base64,${png}` },
    { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` },
    { type: 'input_text', text: note(svg, why) },
    { type: 'input_file', filename: 'a.csv', file_data: 'data:text/csv;base64,YSxi' },
    { type: 'input_text', text: note(sound, why) },
    { type: 'input_image', image_url: 'https://example.com/a.png' },
  ];
  const outputs = (body: Json): unknown[] =>
    from(body, 'input', 'function_call_output').map(({ output }) => output);

  it('OpenAI Responses: a list in the output of the call', async () => {
    const why = 'this API accepts no such part in a tool result';
    expect(outputs(await requestAfter(wireNamed('OpenAI Responses')))).toEqual([
      asResponses(why),
      'seen',
    ]);
  });

  const responses = wireNamed('AI SDK with OpenAI Responses');
  // these releases refer to calls by their ids, which the check does not follow
  const byReference = { ...responses, problem: () => null };
  const options = { apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1' };

  it.each<[string, Wire]>([
    ['v3', responses],
    [
      'v4',
      { ...byReference, model: (fetch) => openAiV4({ ...options, fetch }).responses('gpt-5') },
    ],
  ])('AI SDK with OpenAI Responses, specification %s: the same list', async (_version, wire) => {
    expect(outputs(await requestAfter(wire))).toEqual([asResponses(noPart), 'seen']);
  });

  it('AI SDK with OpenAI Responses, specification v2: without names and addresses', async () => {
    const wire: Wire = {
      ...byReference,
      model: (fetch) => openAiV2({ ...options, fetch }).responses('gpt-5'),
    };
    const [output] = outputs(await requestAfter(wire));
    expect(output).toEqual([
      ...asResponses(noPart)
        .slice(0, 7)
        .map((part) => ('filename' in part ? { ...part, filename: 'data' } : part)),
      {
        type: 'input_text',
        text: note(
          'Image (image/png) at https://example.com/a.png',
          'this provider accepts no such part by address in a tool result',
        ),
      },
    ]);
  });

  it('Anthropic: images and PDF documents inside the result', async () => {
    const { messages } = await requestAfter(wireNamed('AI SDK with Anthropic'));
    // the last block also has a cache mark
    expect((messages as Json[]).at(-1)?.['content']).toMatchObject([
      {
        type: 'tool_result',
        tool_use_id: 'call_1_0',
        content: [
          { type: 'text', text: 'The page:' },
          { type: 'text', text: '{"title":"Home"}' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: pdf },
          },
          { type: 'text', text: note(svg, noPart) },
          { type: 'text', text: note(sheet, noPart) },
          { type: 'text', text: note(sound, noPart) },
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        ],
      },
      { type: 'tool_result', tool_use_id: 'call_1_1', content: 'seen' },
    ]);
  });

  it.each([
    ['gemini-2.5-flash', 'next to the response'],
    ['gemini-3-pro-preview', 'in the response'],
  ])('Google, %s: bytes %s, addresses as notes', async (name) => {
    const { contents } = await requestAfter({
      ...wireNamed('AI SDK with Google'),
      model: (fetch) => createGoogleGenerativeAI({ apiKey: 'none', fetch })(name),
    });
    const last = (contents as { parts: Json[] }[]).at(-1)?.parts ?? [];
    const { parts = [] } = (last[0]?.['functionResponse'] ?? {}) as { readonly parts?: Json[] };
    const around = name.startsWith('gemini-3') ? parts : last;
    expect(around.flatMap(({ inlineData }) => (inlineData ? [inlineData] : []))).toEqual([
      { mimeType: 'image/png', data: png },
      { mimeType: 'application/pdf', data: pdf },
      { mimeType: 'text/csv', data: 'YSxi' },
      { mimeType: 'audio/mpeg', data: btoa('ID3 sound') },
    ]);
    expect(last[0]).toMatchObject({
      functionResponse: {
        name: 'look',
        response: {
          content: [
            'The page:',
            '{"title":"Home"}',
            note(svg, noPart),
            note(
              'Image (image/png) at https://example.com/a.png',
              'this provider accepts no such part by address in a tool result',
            ),
          ].join('\n'),
        },
      },
    });
    expect(last.filter(({ functionResponse }) => functionResponse)).toHaveLength(2);
  });
});

describe('the error mark', () => {
  const anthropic: Wire = {
    ...wireNamed('AI SDK with Anthropic'),
    model: (fetch) => createAnthropic({ apiKey: 'none', fetch })('claude'),
  };
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    timeoutMs: 5,
    execute: () => new Promise(() => {}),
  });
  const blocks: Hook = {
    name: 'blocks',
    aroundToolCall: (call, next) =>
      call.tool === 'blocked' ? Promise.resolve({ blocked: 'not today' }) : next(call),
  };
  const results = (body: Json | undefined): Json[] =>
    ((body?.['messages'] as { content: Json[] }[] | undefined) ?? [])
      .flatMap(({ content }) => content)
      .filter(({ type }) => type === 'tool_result');

  it('is on failed, unknown, timed-out, denied and blocked results of Anthropic, also after a reload', async () => {
    const names = ['fine', 'broken', 'no_such', 'wait', 'guarded', 'blocked'];
    const provider = new ScriptedProvider(anthropic, [{ calls: names.map((name) => ({ name })) }]);
    const agent = AgentBuilder.base()
      .withModel(provider.model)
      .withTools(
        mockTool('fine', 'Error: this is only a text'),
        mockTool('broken', new Error('no')),
        wait,
        mockTool('guarded', 'never', { needsApproval: true }),
        mockTool('blocked', 'never'),
      )
      .withHooks(blocks)
      .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
      .build();
    const paused = await agent.run('go');
    expect(paused.status).toBe('paused');
    const stored = await agent.restore(JSON.parse(JSON.stringify(paused)));
    const [waiting] = paused.pendingApprovals;
    const done = await agent.resume(stored, {
      approvals: { [waiting?.callId ?? '']: { deny: 'no' } },
    });
    expect(done.output).toBe('next');
    expect(results(provider.bodies[1]).map(({ is_error }) => is_error)).toEqual([
      undefined,
      true,
      true,
      true,
      true,
      true,
    ]);
    // the slim form without metadata keeps the mark
    const slim = new SlimAgentStateSerializer({ includeMetadata: false, maxMessages: null });
    await agent.run(slim.deserialize(slim.serialize(done)).withUserMessage('more'));
    expect(results(provider.bodies[2]).map(({ is_error }) => is_error === true)).toEqual([
      false,
      true,
      true,
      true,
      true,
      true,
    ]);
  });

  it('is on the result of an aborted call', async () => {
    const provider = new ScriptedProvider(anthropic, [{ calls: [{ name: 'wait' }] }]);
    const stop = new AbortController();
    const agent = AgentBuilder.base()
      .withModel(provider.model)
      .withTools({ ...wait, timeoutMs: 60_000 })
      .build();
    const running = agent.run('go', { signal: stop.signal });
    setTimeout(() => stop.abort('enough'), 20);
    const state = await running;
    expect(state.stopReason).toBe('user_requested');
    await agent.run(state.withUserMessage('more'));
    expect(results(provider.bodies[1])).toMatchObject([{ is_error: true }]);
  });
});
