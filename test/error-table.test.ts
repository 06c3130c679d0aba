import * as aiSdkErrors from '@ai-sdk/provider';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as openaiErrors from 'openai/error';
import type { InferenceDriver } from 'onward/drivers';
import { describe, expect, it } from 'vitest';
import { aiSdkError } from '../src/inference/drivers/ai-sdk-error.ts';
import { aiSdk } from '../src/inference/drivers/ai-sdk.ts';
import { openai } from '../src/inference/drivers/openai.ts';
import { failureOf, rowOf } from './setup/error-rows.ts';

const folder = '../shared/fixtures';
const hasRecordings = existsSync(join(folder, 'INDEX.tsv'));

interface Recorded {
  readonly api: string;
  readonly streaming: boolean;
  readonly httpStatus: number;
  readonly headers: Record<string, string>;
  readonly expected: { readonly error?: object | null };
}

const readRecorded = (body: string): Recorded =>
  JSON.parse(
    readFileSync(join(folder, body.replace(/\.(json|sse)$/, '.meta.json')), 'utf8'),
  ) as Recorded;

const settings = { apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1' };

function driverFor(api: string, fetch: typeof globalThis.fetch): InferenceDriver {
  switch (api) {
    case 'anthropic-messages':
      return aiSdk(createAnthropic({ ...settings, fetch })('m'));
    case 'gemini-generate-content':
      return aiSdk(createGoogleGenerativeAI({ ...settings, fetch })('m'));
    case 'openai-responses':
      return aiSdk(createOpenAI({ ...settings, fetch }).responses('m'));
    default:
      return openai('m', { ...settings, fetch });
  }
}

/** Errors of recorded answers, by provider and case; those of Responses are also read by the other driver. */
async function recordedRows(): Promise<Record<string, string>> {
  const rows: Record<string, string> = {};
  const lines = readFileSync(join(folder, 'INDEX.tsv'), 'utf8').trim().split('\n').slice(1);
  for (const line of lines) {
    const [provider = '', name = ''] = line.split('\t');
    const body = line.split('\t').at(-1) ?? '';
    const { expected, api, streaming, httpStatus: status, headers } = readRecorded(body);
    if (!expected.error) continue;
    const bytes = readFileSync(join(folder, body));
    const fetch = async () => new Response(bytes, { status, headers });
    rows[`${provider} ${name}`] = rowOf(await failureOf(driverFor(api, fetch), streaming));
    if (api !== 'openai-responses') continue;
    const own = openai('m', { ...settings, fetch, api: 'responses' });
    rows[`${provider} ${name} (own driver)`] = rowOf(await failureOf(own, streaming));
  }
  return rows;
}

/** Errors of the official OpenAI SDK, by class: those that an HTTP status makes, and those of the connection. */
async function openaiRows(api: 'chat' | 'responses'): Promise<Record<string, string>> {
  const body = JSON.stringify({ error: { message: 'no', type: 'x', code: null, param: null } });
  const headers = { 'content-type': 'application/json' };
  const statuses = [400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529];
  const rows: Record<string, string> = {};
  for (const status of statuses) {
    const { name } = openaiErrors.APIError.generate(status, {}, 'no', new Headers()).constructor;
    const answer = async () => new Response(body, { status, headers });
    rows[`${name} ${status}`] = rowOf(
      await failureOf(openai('m', { ...settings, fetch: answer, api }), false),
    );
  }
  const refused = () =>
    Promise.reject(
      Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } }),
    );
  rows['APIConnectionError'] = rowOf(
    await failureOf(openai('m', { ...settings, fetch: refused, api }), false),
  );
  const slow = () => Promise.reject(new openaiErrors.APIConnectionTimeoutError());
  rows['APIConnectionTimeoutError'] = rowOf(
    await failureOf(openai('m', { ...settings, fetch: slow, api }), false),
  );
  return rows;
}

/** Errors of the AI SDK's provider package, by class. */
function aiSdkRows(): Record<string, string> {
  const call = { url: 'http://x', requestBodyValues: {}, message: 'no' };
  const {
    APICallError,
    EmptyResponseBodyError,
    InvalidArgumentError,
    InvalidPromptError,
    InvalidResponseDataError,
    JSONParseError,
    LoadAPIKeyError,
    LoadSettingError,
    NoContentGeneratedError,
    NoSuchModelError,
    TypeValidationError,
    UnsupportedFunctionalityError,
  } = aiSdkErrors;
  const cause = new Error('no');
  const thrown: Record<string, unknown> = {
    ...Object.fromEntries(
      [400, 401, 404, 429, 500, 529].map((statusCode) => [
        `APICallError ${statusCode}`,
        new APICallError({ ...call, statusCode }),
      ]),
    ),
    APICallError: new APICallError(call),
    EmptyResponseBodyError: new EmptyResponseBodyError(),
    InvalidArgumentError: new InvalidArgumentError({ argument: 'a', message: 'no' }),
    InvalidPromptError: new InvalidPromptError({ prompt: 'p', message: 'no' }),
    InvalidResponseDataError: new InvalidResponseDataError({ data: {} }),
    JSONParseError: new JSONParseError({ text: '{', cause }),
    LoadAPIKeyError: new LoadAPIKeyError({ message: 'no' }),
    LoadSettingError: new LoadSettingError({ message: 'no' }),
    NoContentGeneratedError: new NoContentGeneratedError(),
    NoSuchModelError: new NoSuchModelError({ modelId: 'm', modelType: 'languageModel' }),
    TypeValidationError: new TypeValidationError({ value: 1, cause }),
    UnsupportedFunctionalityError: new UnsupportedFunctionalityError({ functionality: 'f' }),
  };
  return Object.fromEntries(
    Object.entries(thrown).map(([name, error]) => [name, rowOf(aiSdkError(error, 0))]),
  );
}

/** Names of the error classes of a package. */
const classesIn = (module: object): string[] =>
  Object.keys(module).filter((name) => name.endsWith('Error'));

// each row: type, code, retryable | stopOnAnyError, production, retryToolErrors, ignoreToolErrors, retryAll
describe('handling of provider errors under each preset', () => {
  it.skipIf(!hasRecordings)('in the recordings', async () => {
    expect(await recordedRows()).toMatchInlineSnapshot(`
      {
        "anthropic error-401": "model auth final | stop stop stop stop stop",
        "anthropic error-529-overloaded": "rate_limit overloaded retryable | stop retry retry retry retry",
        "deepseek error-400-context-length": "model context_length final | stop stop stop stop stop",
        "fireworks error-404-model": "model not_found final | stop stop stop stop stop",
        "gemini error-400-invalid-api-key": "model auth final | stop stop stop stop stop",
        "groq error-400-tool-use-failed": "validation tool_use_failed final | stop stop stop stop stop",
        "groq stream-error-event-only": "validation tool_use_failed final | stop stop stop stop stop",
        "llamacpp error-500-server": "model server retryable | stop retry stop stop retry",
        "mistral error-401-detail": "model auth final | stop stop stop stop stop",
        "openai error-401": "model auth final | stop stop stop stop stop",
        "openai error-429-insufficient-quota": "rate_limit quota final | stop stop stop stop stop",
        "openai-responses error-400-context-length": "model context_length final | stop stop stop stop stop",
        "openai-responses error-400-context-length (own driver)": "model context_length final | stop stop stop stop stop",
        "openai-responses stream-error-insufficient-quota": "rate_limit quota final | stop stop stop stop stop",
        "openai-responses stream-error-insufficient-quota (own driver)": "rate_limit quota final | stop stop stop stop stop",
        "openrouter error-429-reset-in-body": "rate_limit rate_limit retryable | stop retry retry retry retry",
        "openrouter error-body-in-http-200": "model server retryable | stop retry stop stop retry",
        "together error-429-reset-header": "rate_limit rate_limit retryable | stop retry retry retry retry",
        "xai error-400-bad-key-string-error": "model auth final | stop stop stop stop stop",
        "xai error-400-bad-key-string-error (own driver)": "model auth final | stop stop stop stop stop",
      }
    `);
  });

  it('of the OpenAI SDK, the same through Chat Completions and Responses', async () => {
    const rows = await openaiRows('chat');
    expect(await openaiRows('responses')).toEqual(rows);
    expect(rows).toMatchInlineSnapshot(`
      {
        "APIConnectionError": "timeout connection_failed retryable | stop retry retry retry retry",
        "APIConnectionTimeoutError": "timeout connection_failed retryable | stop retry retry retry retry",
        "APIError 408": "timeout timeout retryable | stop retry retry retry retry",
        "APIError 413": "model invalid_request final | stop stop stop stop stop",
        "AuthenticationError 401": "model auth final | stop stop stop stop stop",
        "BadRequestError 400": "model invalid_request final | stop stop stop stop stop",
        "ConflictError 409": "model invalid_request final | stop stop stop stop stop",
        "InternalServerError 500": "model server retryable | stop retry stop stop retry",
        "InternalServerError 502": "model server retryable | stop retry stop stop retry",
        "InternalServerError 503": "model server retryable | stop retry stop stop retry",
        "InternalServerError 504": "timeout timeout retryable | stop retry retry retry retry",
        "InternalServerError 529": "rate_limit overloaded retryable | stop retry retry retry retry",
        "NotFoundError 404": "model not_found final | stop stop stop stop stop",
        "PermissionDeniedError 403": "model auth final | stop stop stop stop stop",
        "RateLimitError 429": "rate_limit rate_limit retryable | stop retry retry retry retry",
        "UnprocessableEntityError 422": "model invalid_request final | stop stop stop stop stop",
      }
    `);
  });

  it('of the AI SDK', () => {
    expect(aiSdkRows()).toMatchInlineSnapshot(`
      {
        "APICallError": "timeout connection_failed retryable | stop retry retry retry retry",
        "APICallError 400": "model invalid_request final | stop stop stop stop stop",
        "APICallError 401": "model auth final | stop stop stop stop stop",
        "APICallError 404": "model not_found final | stop stop stop stop stop",
        "APICallError 429": "rate_limit rate_limit retryable | stop retry retry retry retry",
        "APICallError 500": "model server retryable | stop retry stop stop retry",
        "APICallError 529": "rate_limit overloaded retryable | stop retry retry retry retry",
        "EmptyResponseBodyError": "validation unreadable_body retryable | stop retry retry retry retry",
        "InvalidArgumentError": "model invalid_request final | stop stop stop stop stop",
        "InvalidPromptError": "model invalid_request final | stop stop stop stop stop",
        "InvalidResponseDataError": "validation unreadable_body retryable | stop retry retry retry retry",
        "JSONParseError": "validation unreadable_body retryable | stop retry retry retry retry",
        "LoadAPIKeyError": "model auth final | stop stop stop stop stop",
        "LoadSettingError": "model auth final | stop stop stop stop stop",
        "NoContentGeneratedError": "validation unreadable_body retryable | stop retry retry retry retry",
        "NoSuchModelError": "model not_found final | stop stop stop stop stop",
        "TypeValidationError": "validation unreadable_body retryable | stop retry retry retry retry",
        "UnsupportedFunctionalityError": "model invalid_request final | stop stop stop stop stop",
      }
    `);
  });

  it('covers every error class of both SDKs except those that a model call never throws', async () => {
    const known = (rows: object) => new Set(Object.keys(rows).map((row) => row.split(' ')[0]));
    const left = (module: object, rows: object) =>
      classesIn(module).filter((name) => !known(rows).has(name));
    expect(left(openaiErrors, await openaiRows('chat'))).toMatchInlineSnapshot(`
      [
        "APIUserAbortError",
        "ContentFilterFinishReasonError",
        "InvalidWebhookSignatureError",
        "LengthFinishReasonError",
        "OAuthError",
        "OpenAIError",
        "SubjectTokenProviderError",
      ]
    `);
    expect(left(aiSdkErrors, aiSdkRows())).toMatchInlineSnapshot(`
      [
        "AISDKError",
        "TooManyEmbeddingValuesForCallError",
      ]
    `);
  });
});
