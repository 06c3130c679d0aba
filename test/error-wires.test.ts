import { createOpenAI } from '@ai-sdk/openai';
import { readFileSync } from 'node:fs';
import { AgentBuilder } from 'onward';
import { aiSdk, type AiSdkModel } from 'onward/drivers/ai-sdk';
import type { InferenceDriver } from 'onward/drivers';
import { openai } from 'onward/drivers/openai';
import { describe, expect, it } from 'vitest';
import { failureOf, rowOf } from './setup/error-rows.ts';
import { wires, type Wire } from './setup/provider-wires.ts';
import { ScriptedProvider } from './setup/scripted-provider.ts';
import type { Json } from './setup/wire.ts';

type Refusal = readonly [status: number, body: Json, headers?: Record<string, string>];

const ofOpenAI = (status: number, message: string, code: string | null, type = 'x'): Refusal => [
  status,
  { error: { message, type, code, param: null } },
];
const ofAnthropic = (status: number, type: string, message: string): Refusal => [
  status,
  { type: 'error', error: { type, message }, request_id: 'req_1' },
];
const ofGoogle = (code: number, status: string, message: string, reason?: string): Refusal => [
  code,
  { error: { code, status, message, ...(reason !== undefined && { details: [{ reason }] }) } },
];

/** What people meet, as each provider says it, and how every driver reads it. */
const refusals: Record<
  string,
  { row: string; openai: Refusal; anthropic: Refusal; google: Refusal }
> = {
  'a rate limit': {
    row: 'rate_limit rate_limit retryable | stop retry retry retry retry',
    openai: ofOpenAI(429, 'Rate limit reached for gpt-5.', 'rate_limit_exceeded', 'tokens'),
    anthropic: ofAnthropic(429, 'rate_limit_error', 'This request would exceed your rate limit.'),
    google: [
      429,
      {
        error: {
          code: 429,
          status: 'RESOURCE_EXHAUSTED',
          message: 'You exceeded your current quota.',
          details: [{ retryDelay: '20s' }],
        },
      },
    ],
  },
  'an overloaded provider': {
    row: 'rate_limit overloaded retryable | stop retry retry retry retry',
    openai: ofOpenAI(503, 'The engine is currently overloaded, please try again later.', null),
    anthropic: ofAnthropic(529, 'overloaded_error', 'Overloaded'),
    google: ofGoogle(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
  },
  'a spent quota': {
    row: 'rate_limit quota final | stop stop stop stop stop',
    openai: ofOpenAI(429, 'You exceeded your current quota.', 'insufficient_quota'),
    anthropic: ofAnthropic(400, 'invalid_request_error', 'Your credit balance is too low.'),
    google: ofGoogle(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check.'),
  },
  'a wrong key': {
    row: 'model auth final | stop stop stop stop stop',
    openai: ofOpenAI(401, 'Incorrect API key provided: sk-abc.', 'invalid_api_key'),
    anthropic: ofAnthropic(401, 'authentication_error', 'invalid x-api-key'),
    google: ofGoogle(400, 'INVALID_ARGUMENT', 'API key not valid.', 'API_KEY_INVALID'),
  },
  'a key without permission': {
    row: 'model auth final | stop stop stop stop stop',
    openai: ofOpenAI(403, 'You are not allowed to use this model.', null),
    anthropic: ofAnthropic(403, 'permission_error', 'Your API key does not have permission.'),
    google: ofGoogle(403, 'PERMISSION_DENIED', 'The caller does not have permission'),
  },
  'a conversation that is too long': {
    row: 'model context_length final | stop stop stop stop stop',
    openai: ofOpenAI(400, 'Your input exceeds the context window.', 'context_length_exceeded'),
    anthropic: ofAnthropic(
      400,
      'invalid_request_error',
      'prompt is too long: 210000 tokens > 200000',
    ),
    google: ofGoogle(400, 'INVALID_ARGUMENT', 'The input token count (9) exceeds the maximum (8).'),
  },
  'a content filter': {
    row: 'model content_filter final | stop stop stop stop stop',
    openai: [
      400,
      {
        error: {
          code: 'content_filter',
          message: "The response was filtered due to Azure OpenAI's content management policy.",
          innererror: { code: 'ResponsibleAIPolicyViolation' },
        },
      },
    ],
    anthropic: ofAnthropic(
      400,
      'invalid_request_error',
      'Output blocked by content filtering policy',
    ),
    google: ofGoogle(400, 'INVALID_ARGUMENT', 'The prompt was flagged as unsafe.'),
  },
  'an unknown model': {
    row: 'model not_found final | stop stop stop stop stop',
    openai: ofOpenAI(404, 'The model `gpt-9` does not exist.', 'model_not_found'),
    anthropic: ofAnthropic(404, 'not_found_error', 'model: claude-9'),
    google: ofGoogle(404, 'NOT_FOUND', 'models/gemini-9 is not found for API version v1beta.'),
  },
  'an invalid schema': {
    row: 'model invalid_request final | stop stop stop stop stop',
    openai: ofOpenAI(
      400,
      "Invalid schema for response_format 'response': 'additionalProperties' is required to be false.",
      'invalid_json_schema',
    ),
    anthropic: ofAnthropic(
      400,
      'invalid_request_error',
      'tools.0.input_schema: JSON schema is invalid',
    ),
    google: ofGoogle(
      400,
      'INVALID_ARGUMENT',
      'Invalid JSON payload received. Unknown name "oneOf".',
    ),
  },
  'a bad request that mentions a timeout': {
    row: 'model invalid_request final | stop stop stop stop stop',
    openai: ofOpenAI(400, 'The download of the file timed out.', null),
    anthropic: ofAnthropic(400, 'invalid_request_error', 'The download of the file timed out.'),
    google: ofGoogle(400, 'INVALID_ARGUMENT', 'The download of the file timed out.'),
  },
  'a server error': {
    row: 'model server retryable | stop retry stop stop retry',
    openai: ofOpenAI(500, 'The server had an error.', null, 'server_error'),
    anthropic: ofAnthropic(500, 'api_error', 'Internal server error'),
    google: ofGoogle(500, 'INTERNAL', 'An internal error has occurred.'),
  },
  'a gateway that gave up': {
    row: 'timeout timeout retryable | stop retry retry retry retry',
    openai: ofOpenAI(504, 'Gateway Timeout', null),
    anthropic: ofAnthropic(504, 'timeout_error', 'Request timed out.'),
    google: ofGoogle(504, 'DEADLINE_EXCEEDED', 'Deadline expired before it could complete.'),
  },
};

const shapeOf = ({ name }: Wire) =>
  name.includes('Anthropic') ? 'anthropic' : name.includes('Google') ? 'google' : 'openai';

const driverOn = (wire: Wire, fetch: typeof globalThis.fetch): InferenceDriver => {
  const model = wire.model(fetch);
  return typeof model === 'object' && 'infer' in model ? model : aiSdk(model as AiSdkModel);
};

/** The row of an error, which has to be the same for a whole and a streamed answer. */
async function rowFor(wire: Wire, fetch: typeof globalThis.fetch): Promise<string> {
  const whole = rowOf(await failureOf(driverOn(wire, fetch), false));
  const streamed = rowOf(await failureOf(driverOn(wire, fetch), true));
  return whole === streamed ? whole : `${whole}; streamed: ${streamed}`;
}

const page = '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>';
const html = { 'content-type': 'text/html' };
const sse = { 'content-type': 'text/event-stream' };
const offline: typeof fetch = () =>
  Promise.reject(Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } }));

describe.each(wires)('errors through $name', (wire) => {
  it.each(Object.entries(refusals))('%s', async (_what, { row, ...bodies }) => {
    const [status, body, headers = {}] = bodies[shapeOf(wire)];
    const answer = async () => Response.json(body, { status, headers });
    expect(await rowFor(wire, answer)).toBe(row);
  });

  it.each<[string, typeof fetch, string]>([
    [
      'a refused connection',
      offline,
      'timeout connection_failed retryable | stop retry retry retry retry',
    ],
    [
      'the page of a proxy',
      async () => new Response(page, { status: 502, headers: html }),
      'model server retryable | stop retry stop stop retry',
    ],
    [
      'a page in place of an answer',
      async () => new Response(page, { headers: html }),
      'validation unreadable_body retryable | stop retry retry retry retry',
    ],
  ])('%s', async (_what, answer, row) => {
    expect(await rowFor(wire, answer)).toBe(row);
  });

  it('broken JSON', async () => {
    const row = 'validation unreadable_body retryable | stop retry retry retry retry';
    const whole = async () =>
      new Response('{"id":', { headers: { 'content-type': 'application/json' } });
    expect(rowOf(await failureOf(driverOn(wire, whole), false))).toBe(row);
    const streamed = async () => new Response('data: {"id":\n\n', { headers: sse });
    // the package for Anthropic calls it a 500
    const own = wire.name.includes('Anthropic')
      ? 'model server retryable | stop retry stop stop retry'
      : row;
    expect(rowOf(await failureOf(driverOn(wire, streamed), true))).toBe(own);
  });

  it('a refusal and a filtered answer', async () => {
    const ends = [];
    for (const finish of ['refusal', 'content_filter'] as const) {
      const provider = new ScriptedProvider(wire, [
        { finish, text: finish === 'refusal' ? '' : 'x' },
      ]);
      const state = await AgentBuilder.base().withModel(provider.model).build().run('go');
      const code = state.steps.at(0)?.errors[0]?.code ?? state.steps.at(0)?.finishReason;
      ends.push(`${state.stopReason} ${code}`);
    }
    const isOwn = wire.name.startsWith('OpenAI');
    // the package for compatible servers does not read refusals, and says nothing about them
    const isDropped = wire.name.includes('compatible');
    expect(ends).toEqual([
      isOwn ? 'error refusal' : isDropped ? 'completed stop' : 'finish_reason content_filter',
      'finish_reason content_filter',
    ]);
  });
});

describe('errors that the Responses API reports in HTTP 200', () => {
  const source = readFileSync('node_modules/openai/resources/responses/responses.d.ts', 'utf8');
  const declared = /interface ResponseError \{[\s\S]*?code: ([^;]+);/.exec(source)?.[1] ?? '';
  const codes = [...declared.matchAll(/'(\w+)'/g)].map(([, code = '']) => code);
  const settings = { apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1' };
  const facts = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [] };
  const events =
    (...list: readonly Json[]) =>
    async () =>
      new Response(list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), {
        headers: sse,
      });
  const created = { type: 'response.created', response: { ...facts, status: 'in_progress' } };

  /** The same failure in every form in which the API sends it. */
  const forms = (code: string, message: string) => {
    const error = { code, message };
    const failed = { ...facts, status: 'failed', error, incomplete_details: null };
    const delta = {
      type: 'response.output_text.delta',
      output_index: 0,
      delta: 'Half',
      item_id: 'i',
    };
    const item = {
      type: 'message',
      id: 'i',
      role: 'assistant',
      status: 'in_progress',
      content: [],
    };
    const added = { type: 'response.output_item.added', output_index: 0, item };
    const event = { type: 'error', sequence_number: 1, param: null, ...error };
    return {
      whole: async () => Response.json(failed),
      'response.failed': events(created, {
        type: 'response.failed',
        sequence_number: 1,
        response: failed,
      }),
      error: events(created, event),
      'error after text': events(created, added, delta, event),
      'error in an object': events(created, { type: 'error', error: { type: 'x', ...error } }),
    };
  };

  it('have one row for each code of the SDK, in every form', async () => {
    const rows: Record<string, string> = {};
    for (const code of codes) {
      const seen = new Set<string>();
      for (const [form, fetch] of Object.entries(forms(code, 'It failed.'))) {
        const own = openai('m', { ...settings, fetch, api: 'responses' });
        seen.add(rowOf(await failureOf(own, form !== 'whole')).split(' | ')[0] ?? '');
      }
      rows[code] = [...seen].join('; ');
    }
    expect(rows).toMatchInlineSnapshot(`
      {
        "bio_policy": "model content_filter final",
        "data_residency_mismatch": "model invalid_request final",
        "empty_image_file": "model invalid_request final",
        "failed_to_download_image": "model invalid_request final",
        "image_content_policy_violation": "model content_filter final",
        "image_file_not_found": "model invalid_request final",
        "image_file_too_large": "model invalid_request final",
        "image_parse_error": "model invalid_request final",
        "image_too_large": "model invalid_request final",
        "image_too_small": "model invalid_request final",
        "invalid_base64_image": "model invalid_request final",
        "invalid_image": "model invalid_request final",
        "invalid_image_format": "model invalid_request final",
        "invalid_image_mode": "model invalid_request final",
        "invalid_image_url": "model invalid_request final",
        "invalid_prompt": "model invalid_request final",
        "rate_limit_exceeded": "rate_limit rate_limit retryable",
        "server_error": "model server retryable",
        "unsupported_image_media_type": "model invalid_request final",
        "vector_store_timeout": "timeout timeout retryable",
      }
    `);
  });

  it('are read the same through the AI SDK', async () => {
    for (const code of ['server_error', 'rate_limit_exceeded', 'invalid_prompt']) {
      for (const [form, fetch] of Object.entries(forms(code, 'It failed.'))) {
        const own = openai('m', { ...settings, fetch, api: 'responses' });
        const other = aiSdk(createOpenAI({ ...settings, fetch }).responses('m'));
        const isStream = form !== 'whole';
        expect(rowOf(await failureOf(other, isStream)), `${code} in ${form}`).toBe(
          rowOf(await failureOf(own, isStream)),
        );
      }
    }
  });

  it('keep the text and the id that came before', async () => {
    const fetch = forms('server_error', 'It failed.')['error after text'];
    const failure = await failureOf(openai('m', { ...settings, fetch, api: 'responses' }), true);
    expect(failure).toMatchObject({
      details: { partial: { content: 'Half', model: 'm', requestId: 'resp_1' } },
    });
  });

  it('without a message are failures of the server, and never an empty answer', async () => {
    const failed = { ...facts, status: 'failed', error: null };
    const whole = openai('m', {
      ...settings,
      api: 'responses',
      fetch: async () => Response.json(failed),
    });
    expect(rowOf(await failureOf(whole, false))).toContain('model server retryable');
    const fetch = events(created, {
      type: 'response.failed',
      sequence_number: 1,
      response: failed,
    });
    const streamed = openai('m', { ...settings, api: 'responses', fetch });
    expect(rowOf(await failureOf(streamed, true))).toContain('model server retryable');
  });
});
