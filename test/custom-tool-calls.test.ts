import { createOpenAI } from '@ai-sdk/openai';
import { AgentBuilder, AgentState, defineTool, type ModelInput } from 'onward';
import { aiSdk } from 'onward/drivers/ai-sdk';
import { openai } from 'onward/drivers/openai';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { json, serve, type Reply } from './setup/loopback.ts';
import { response, said, type Json } from './setup/responses-samples.ts';

const statement = 'select "name"\nfrom users -- 1';
const call: Json = {
  type: 'custom_tool_call',
  id: 'ctc_1',
  call_id: 'call_1',
  name: 'sql',
  input: statement,
  status: 'completed',
};
const definition = { type: 'custom', name: 'sql', description: 'Runs a statement.' } as const;

const models: Record<string, (url: string) => ModelInput> = {
  'own driver': (baseURL) =>
    openai('gpt-5', { baseURL, apiKey: 'x', api: 'responses', builtInTools: [definition] }),
  'AI SDK': (baseURL) => {
    const provider = createOpenAI({ baseURL, apiKey: 'x' });
    const { name, description } = definition;
    const sql = provider.tools.customTool({ name, description });
    return aiSdk(provider.responses('gpt-5'), {
      providerTools: { sql },
      // else it refers to the stored item
      providerOptions: { openai: { store: false } },
    });
  },
};

const about = { output_index: 0, item_id: 'item_1' };
const facts = { created_at: 1, model: 'gpt-5' };

/** An answer of one item as events, which every package reads. */
const events =
  (item: Json, empty: Json, ...deltas: readonly Json[]): Reply =>
  (out, { body }) => {
    expect(body['stream']).toBe(true);
    const all = [
      { type: 'response.created', response: { id: 'resp_1', ...facts } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, ...empty } },
      ...deltas.map((delta) => ({ ...about, ...delta })),
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: response([item], facts) },
    ];
    out.writeHead(200, { 'content-type': 'text/event-stream' });
    out.end(all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  };

/** Its input comes in pieces of plain text. */
const inPieces = events(
  call,
  { input: '', status: 'in_progress' },
  ...(statement.match(/.{1,7}/gs) ?? []).map((delta) => ({
    type: 'response.custom_tool_call_input.delta',
    delta,
  })),
  { type: 'response.custom_tool_call_input.done', input: statement },
);
const answered = events(
  said('One.', { id: 'item_1' }),
  { content: [] },
  { type: 'response.output_text.delta', content_index: 0, delta: 'One.' },
);

describe.each(Object.entries(models))('a custom tool through the %s', (_name, model) => {
  it.each([
    ['whole', json(response([call])), json(response([said('One.')]))],
    ['streamed', inPieces, answered],
  ])('%s: its text reaches the tool, and goes back as it came', async (how, first, second) => {
    const { url, requests } = await serve(first, second, json(response([said('Bye.')])));
    const inputs: string[] = [];
    const agent = AgentBuilder.base()
      .withModel(model(url))
      .withTools(
        defineTool({
          name: 'sql',
          description: 'Runs a statement.',
          parameters: z.object({ input: z.string() }),
          execute: ({ input }) => {
            inputs.push(input);
            return 'one row';
          },
        }),
      )
      .build();
    const state = await agent.run('go', how === 'streamed' ? { wiretap: () => {} } : {});
    expect(inputs).toEqual([statement]);
    expect(state.output).toBe('One.');
    expect(state.steps.at(0)?.toolCalls[0]?.args).toEqual({ input: statement });
    // also in another process
    const stored = AgentState.from(JSON.parse(JSON.stringify(state)));
    await agent.run(stored.withUserMessage('Thanks.'));
    for (const { body } of requests.slice(1)) {
      const input = body['input'] as Json[];
      expect(input.find(({ type }) => type === 'custom_tool_call')).toMatchObject({
        call_id: 'call_1',
        name: 'sql',
        input: statement,
      });
      expect(input.find(({ type }) => type === 'custom_tool_call_output')).toMatchObject({
        call_id: 'call_1',
        output: 'one row',
      });
      expect(input.filter(({ type }) => String(type).startsWith('function_call'))).toEqual([]);
    }
    // providers reject two tools with one name
    for (const { body } of requests) expect(body['tools']).toEqual([definition]);
  });
});
