import { AgentBuilder, AgentState, ErrorPolicy } from 'onward';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { wires, type Wire } from './setup/provider-wires.ts';
import type { Json } from './setup/wire.ts';

/** A value that no `JSON.stringify` can write. */
const deep = '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000);
/** Written into bodies as text, because no program could serialize it. */
const DEEP = 'DEEP';
const DEEP_PARTS = 'DEEP_PARTS';
/** Parts inside of parts, which a reader could follow until the stack is full. */
const deepParts = '{"thinking":['.repeat(50_000) + '{"text":"x"}' + ']}'.repeat(50_000);
const text = (value: unknown): string =>
  JSON.stringify(value).replaceAll('"DEEP"', deep).replaceAll('"DEEP_PARTS"', deepParts);
const frame = (event: Json): string => `data: ${text(event)}\n\n`;
const stream = { 'content-type': 'text/event-stream' };
const json = { 'content-type': 'application/json' };

const call = { id: 'c1', type: 'function', function: { name: 'work', arguments: '{}' } };
const item = { type: 'function_call', id: 'fc', call_id: 'c1', name: 'work', arguments: '{}' };

/** Fields that drivers store and send back, by API, in an answer with a call. */
const answers: Readonly<Record<string, Readonly<Record<string, readonly Json[]>>>> = {
  chat: {
    'details of reasoning': [
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', more: DEEP }] },
    ],
    'signature of the message': [
      { extra_content: { google: { thought_signature: 'x', more: DEEP } } },
    ],
    'signatures of a proxy': [
      { provider_specific_fields: { thought_signatures: ['x'], more: DEEP } },
    ],
    'signature of a call': [{ tool_calls: [{ ...call, extra_content: { google: DEEP } }] }],
    'parts inside of parts': [{ content: [{ type: 'thinking', thinking: [DEEP_PARTS] }] }],
    'keys of prototypes': [
      { extra_content: JSON.parse('{"__proto__":{"isAdmin":true},"a":1}') as Json },
    ],
  },
  responses: {
    'a call of a built-in tool': [
      { type: 'web_search_call', id: 'ws', status: 'completed', action: DEEP },
      item,
    ],
    'encrypted reasoning': [
      { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'x', more: DEEP },
      item,
    ],
    'a field of a call': [{ ...item, more: DEEP }],
    annotations: [
      {
        type: 'message',
        id: 'm',
        content: [
          { type: 'output_text', text: 'Hi', annotations: [{ type: 'file_citation', more: DEEP }] },
        ],
      },
      item,
    ],
    'an unknown item': [{ type: 'news', id: 'n', more: DEEP }, item],
    'keys of prototypes': [{ ...item, more: JSON.parse('{"__proto__":{"isAdmin":true}}') as Json }],
  },
  anthropic: {
    'a search of the provider': [
      { type: 'server_tool_use', id: 'srv', name: 'web_search', input: DEEP },
      { type: 'web_search_tool_result', tool_use_id: 'srv', content: [] },
    ],
    citations: [
      {
        type: 'text',
        text: 'Hi',
        citations: [{ type: 'char_location', cited_text: 'x', more: DEEP }],
      },
    ],
    'an unknown block': [{ type: 'news', more: DEEP }],
  },
  google: {
    'a signature': [{ text: 'Hi', thoughtSignature: 'x', more: DEEP }],
    'code of the provider': [{ executableCode: { language: 'PYTHON', code: '1', more: DEEP } }],
    'an unknown part': [{ news: DEEP }],
  },
};

const apiOf = ({ name }: Wire): string =>
  /Anthropic|Google|Responses/.exec(name)?.[0].toLowerCase() ?? 'chat';

/** The body of an answer with these fields and a call, whole or as events. */
function bodyOf(api: string, fields: readonly Json[], isStream: boolean): string {
  if (api === 'chat') {
    const message = { role: 'assistant', content: null, tool_calls: [call], ...fields[0] };
    const delta = {
      ...message,
      tool_calls: (message.tool_calls as Json[]).map((one) => ({ index: 0, ...one })),
    };
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
    const about = { id: 'a', created: 1, model: 'm' };
    if (!isStream)
      return text({ ...about, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
    return (
      [
        { ...about, choices: [{ index: 0, delta }] },
        { ...about, ...end },
      ]
        .map(frame)
        .join('') + 'data: [DONE]\n\n'
    );
  }
  if (api === 'responses') {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const response = {
      id: 'r',
      created_at: 1,
      model: 'm',
      status: 'completed',
      output: fields,
      usage,
    };
    if (!isStream) return text(response);
    const items = fields.flatMap((one, output_index) => [
      { type: 'response.output_item.added', output_index, item: one },
      { type: 'response.output_item.done', output_index, item: one },
    ]);
    return [
      { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
      ...items,
      { type: 'response.completed', response },
    ]
      .map(frame)
      .join('');
  }
  if (api === 'anthropic') {
    const content = [...fields, { type: 'tool_use', id: 'c1', name: 'work', input: {} }];
    const message = {
      type: 'message',
      id: 'm',
      role: 'assistant',
      model: 'm',
      content,
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    if (!isStream) return text(message);
    const blocks = content.flatMap((content_block, index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]);
    const end = {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 1 },
    };
    return [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      ...blocks,
      end,
      { type: 'message_stop' },
    ]
      .map(frame)
      .join('');
  }
  const parts = [...fields, { functionCall: { name: 'work', args: {} } }];
  const answer = {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
  return isStream ? frame(answer) : text(answer);
}

describe.each(wires)('D90: state of $name that cannot be stored', (wire) => {
  const api = apiOf(wire);
  const rows = Object.entries(answers[api] ?? {}).flatMap(([what, fields]) =>
    [true, false].map(
      (isStream) => [what, isStream ? 'streamed' : 'whole', fields, isStream] as const,
    ),
  );

  it.each(rows)(
    '%s, %s: the state is stored, and the conversation continues',
    async (_what, _how, fields, isStream) => {
      let requests = 0;
      const model = wire.model(async (_url, init) => {
        requests += 1;
        JSON.parse(init?.body as string);
        const headers = isStream ? stream : json;
        if (requests === 1) return new Response(bodyOf(api, fields, isStream), { headers });
        const said = { n: requests, text: 'Done.' };
        return isStream
          ? new Response(wire.stream(said).flat().map(frame).join(''), { headers })
          : Response.json(wire.whole(said));
      });
      const work = mockTool('work', 'done');
      const agent = AgentBuilder.base()
        .withModel(model)
        .withTools(work)
        .withErrorPolicy(ErrorPolicy.production().withBackoff({ initialMs: 0 }))
        .build();
      const options = isStream ? { wiretap: () => {} } : {};
      const state = await agent.run('go', options);
      const stored = JSON.stringify(state);
      expect(stored.length).toBeLessThan(200_000);
      expect(stored).not.toContain('"__proto__":');
      expect(state.output).toBe('Done.');
      // a package that cannot read it fails the call
      const [first] = state.steps;
      if (wire.name.startsWith('OpenAI')) expect(first?.type).toBe('tool_calls');
      if (first?.type === 'error')
        expect(first.errors).toMatchObject([{ type: 'validation', code: 'unreadable_body' }]);
      else expect(work.calls).toHaveLength(1);
      const after = await agent.run(
        AgentState.from(JSON.parse(stored)).withUserMessage('more'),
        options,
      );
      expect(after.output).toBe('Done.');
    },
  );
});

describe('metadata of a driver', () => {
  const cycle: Json = {};
  cycle['self'] = cycle;
  it.each<[string, unknown, unknown]>([
    ['a cycle', cycle, {}],
    ['a bigint', { n: 1n }, {}],
    ['a date', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    [
      'a frozen object with a key named __proto__',
      Object.freeze(JSON.parse('{"a":1,"__proto__":{"b":2}}')),
      { a: 1 },
    ],
    ['plain JSON', { a: [1, null, { b: 'x' }] }, { a: [1, null, { b: 'x' }] }],
  ])('%s is stored as plain JSON, or not at all', async (_what, metadata, expected) => {
    const state = await AgentBuilder.base()
      .withDriver({
        name: 'odd',
        infer: async () => ({
          content: 'Hi.',
          toolCalls: [],
          finishReason: 'stop',
          usage: null,
          metadata: metadata as never,
        }),
      })
      .build()
      .run('go');
    expect(state.output).toBe('Hi.');
    expect(AgentState.from(JSON.parse(JSON.stringify(state))).messages.last()?.metadata).toEqual(
      expected,
    );
  });
});
