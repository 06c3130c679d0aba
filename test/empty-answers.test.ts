import { createOpenAI } from '@ai-sdk/openai';
import { AgentBuilder, ErrorPolicy, type ModelInput } from 'onward';
import { openai } from 'onward/drivers/openai';
import { describe, expect, it } from 'vitest';
import { completion, json, serve, sse } from './setup/loopback.ts';
import { called, reasoning, response, said, type Json } from './setup/responses-samples.ts';

/** How a run with this model ends: its stop reason, and the code of the error or the finish reason. */
async function endOf(model: ModelInput, isStream: boolean): Promise<string> {
  const agent = AgentBuilder.base()
    .withModel(model)
    .withErrorPolicy(ErrorPolicy.stopOnAnyError())
    .build();
  const state = await agent.run('go', isStream ? { wiretap: () => {} } : {});
  const step = state.steps.at(0);
  return `${state.stopReason} ${step?.errors[0]?.code ?? step?.finishReason}`;
}

const incomplete = (reason: string | null, ...output: readonly Json[]): Json =>
  response(output, {
    status: 'incomplete',
    incomplete_details: reason === null ? null : { reason },
  });

describe.each([
  ['whole', false],
  ['streamed', true],
] as const)('an answer without content, %s', (_how, isStream) => {
  it.each<[string, Json, string]>([
    ['incomplete without a reason', incomplete(null), 'error empty_answer'],
    ['incomplete for an unknown reason', incomplete('tea_break'), 'error empty_answer'],
    ['blank for an unknown reason', incomplete('tea_break', said(' \n')), 'error empty_answer'],
    ['reasoning for an unknown reason', incomplete('x', reasoning(1, 'Hm')), 'error empty_answer'],
    ['of an unknown status', response([], { status: 'paused' }), 'error empty_answer'],
    ['failed without a message', response([], { status: 'failed' }), 'error server'],
    ['cancelled', response([], { status: 'cancelled' }), 'error cancelled'],
    ['incomplete for safety', incomplete('safety_block'), 'finish_reason content_filter'],
    ['filtered', incomplete('content_filter'), 'finish_reason content_filter'],
    ['at the output limit', incomplete('max_output_tokens'), 'finish_reason length'],
    ['with text for an unknown reason', incomplete('x', said('Half')), 'finish_reason length'],
    ['with text and an unknown status', response([said('Hi')], { status: 'x' }), 'completed stop'],
  ])('Responses: %s', async (_what, body, end) => {
    const type =
      body['status'] === 'failed'
        ? 'response.failed'
        : body['status'] === 'incomplete'
          ? 'response.incomplete'
          : 'response.completed';
    const { url } = await serve(isStream ? sse({ type, response: body }) : json(body));
    expect(await endOf(openai('gpt-5', { baseURL: url, api: 'responses' }), isStream)).toBe(end);
  });

  it('Responses: calls of an incomplete answer are no empty answer, and do not run', async () => {
    const body = incomplete('x', called('c1', 'look'));
    const replies = [body, response([said('Done.')])].map((each) =>
      isStream ? sse({ type: `response.${String(each['status'])}`, response: each }) : json(each),
    );
    const { url } = await serve(...replies);
    const model = openai('gpt-5', { baseURL: url, api: 'responses' });
    const state = await AgentBuilder.base()
      .withModel(model)
      .withErrorPolicy(ErrorPolicy.retryToolErrors())
      .build()
      .run('go', isStream ? { wiretap: () => {} } : {});
    expect(state.steps.at(0)?.finishReason).toBe('length');
    expect(state.steps.at(0)?.results.map(({ kind }) => kind)).toEqual(['error']);
  });

  it.each([
    ['tea_break', 'error empty_answer'],
    ['guardrail_stop', 'finish_reason content_filter'],
  ])('%s ends the same through Chat Completions and the AI SDK', async (word, end) => {
    const whole = completion('', word, { id: 'c', created: 1, model: 'm' });
    const chunk = {
      id: 'c',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: {}, finish_reason: word }],
    };
    const chat = await serve(isStream ? sse(chunk) : json(whole));
    expect(await endOf(openai('m', { baseURL: chat.url }), isStream)).toBe(end);
    const facts = { created_at: 1, model: 'm' };
    const body = { ...incomplete(word), ...facts };
    const { url } = await serve(
      isStream
        ? sse(
            { type: 'response.created', response: { id: 'r', ...facts } },
            { type: 'response.incomplete', response: body },
          )
        : json(body),
    );
    const model = createOpenAI({ apiKey: 'x', baseURL: url }).responses('m');
    expect(await endOf(model, isStream)).toBe(end);
  });
});
