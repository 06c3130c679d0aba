import type { OpenAI } from 'openai';
import type { Clock } from '../../clock.ts';
import { AgentError, invalidOption } from '../../errors/agent-error.ts';
import { withoutKnown } from '../../errors/known-secrets.ts';
import { defaultRedactor } from '../../errors/redactor.ts';
import { sha256 } from '../../sha256.ts';
import { modelCallFailed, readFailure } from '../inference-error.ts';
import { refusalText } from './answer-size.ts';
import { providerError } from './provider-error.ts';
import { requestIdIn } from './request-id.ts';
import { headerMap } from './retry-after.ts';

/** How to reach a server. */
export interface OpenAIConnection {
  readonly apiKey?: string;
  /**
   * Environment variable with the key. Default OPENAI_API_KEY, only for OpenAI: a key is never sent to another
   * server.
   */
  readonly apiKeyVariable?: string;
  /** URL of any server with Chat Completions or Responses. Default: OpenAI. Environment variables do not change it. */
  readonly baseURL?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
  /** Your own client, such as `new AzureOpenAI(...)`; it then defines key, URL and headers. */
  readonly client?: OpenAI;
}

/** A client of the official SDK, and the settings of one request. */
export type { OpenAI as OpenAIClient } from 'openai';
export type SendOptions = OpenAI.RequestOptions;

/** A tool that the provider runs itself, such as `{ type: 'web_search' }`. */
export type BuiltInTool = Exclude<OpenAI.Responses.Tool, OpenAI.Responses.FunctionTool>;

const OPENAI = 'https://api.openai.com/v1';

/** Returns the URL of the server that will answer. */
export const serverOf = ({ baseURL, client }: OpenAIConnection): string =>
  baseURL ?? client?.baseURL ?? OPENAI;

/** Identifies the account of a client without its key, because encrypted reasoning is readable only there. */
export const accountOf = ({ organization, project, apiKey }: OpenAI): string =>
  sha256([organization, project, organization ? '' : apiKey].join(' ')).slice(0, 16);

/** Whether OpenAI's own models answer at this URL, at OpenAI or Azure, so that their newer names apply. */
export const isOpenAI = (options: OpenAIConnection): boolean =>
  /(?:^|\.)(?:openai|azure)\.com$/.test(new URL(serverOf(options)).hostname);

/** Whether the server is known to have the Responses API. */
export function hasResponses(options: OpenAIConnection): boolean {
  const { hostname, pathname } = new URL(serverOf(options));
  return isOpenAI(options) && (hostname.endsWith('openai.com') || /^\/openai\/v1\b/.test(pathname));
}

/** Whether this URL may get OpenAI's key. */
const isHome = (options: OpenAIConnection): boolean =>
  /^https:\/\/(?:[\w-]+\.)*openai\.com$/.test(new URL(serverOf(options)).origin);

export async function connect(options: OpenAIConnection, clock: Clock): Promise<OpenAI> {
  if (options.client) return wrapped(options.client, clock);
  const sdk = await import('openai').catch((cause: unknown) => {
    throw new AgentError(
      'driver_missing',
      'The OpenAI driver needs the official SDK, which is not installed. Run: npm install openai',
      { cause },
    );
  });
  const apiKey = keyOf(options);
  const send: typeof fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  return new sdk.OpenAI({
    // the SDK requires a key even for a local server, which needs none
    apiKey: apiKey ?? 'none',
    baseURL: serverOf(options),
    maxRetries: 0,
    ...(isHome(options) ? null : { organization: null, project: null }),
    defaultHeaders: { ...(apiKey === null ? { authorization: null } : null), ...options.headers },
    fetch: guarded(send, clock),
  });
}

/** Returns a copy of the client that inspects refusals, if its version can be copied. */
function wrapped(client: OpenAI, clock: Clock): OpenAI {
  const {
    fetch: send,
    apiVersion,
    deploymentName,
  } = client as unknown as {
    readonly fetch?: typeof fetch; // private in their types
    readonly apiVersion?: string;
    readonly deploymentName?: string;
  };
  if (typeof client.withOptions !== 'function' || typeof send !== 'function') return client;
  try {
    return client.withOptions({
      fetch: guarded(send, clock),
      // an Azure client loses these when it is copied
      ...(apiVersion === undefined ? null : { apiVersion, deployment: deploymentName }),
    });
  } catch {
    return client;
  }
}

/** Returns the key; null for a local server, which often needs none. */
function keyOf(options: OpenAIConnection): string | null {
  const variable = options.apiKeyVariable ?? (isHome(options) ? 'OPENAI_API_KEY' : null);
  const key = (options.apiKey ?? (variable === null ? undefined : environment(variable)))?.trim();
  if (key) {
    // an error of the network layer would show an invalid key
    if (/[^\x21-\x7e]/.test(key))
      throw new AgentError(
        'invalid_option',
        'The API key contains invalid characters. Copy it again.',
      );
    return key;
  }
  if (variable === null) return null;
  throw new AgentError(
    'invalid_option',
    `No API key was found in ${variable}. Set it, pass { apiKey }, or pass { baseURL } of a server that needs none.`,
  );
}

function environment(variable: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[variable];
}

/**
 * Wraps `fetch`: reads refusals before the SDK, which drops bodies that are not the expected JSON, and follows no
 * redirect, because conversation and headers would go to another server.
 */
const guarded =
  (send: typeof fetch, clock: Clock): typeof fetch =>
  async (input, init) => {
    const response = await send(input, { ...init, redirect: 'manual' });
    if (response.ok) return response;
    if (response.status < 400) throw redirected(response);
    const body = await refusalText(response);
    throw unread(
      modelCallFailed(
        providerError(response.status, headerMap(response.headers), body, clock.now()),
      ),
    );
  };

/** Hides the message from the SDK, which drops any error whose text has the word "timeout". */
const unread = (failure: AgentError): AgentError =>
  Object.defineProperty(failure, 'toString', { value: () => failure.code });

function redirected({ status, headers }: Response): AgentError {
  const requestId = requestIdIn(headerMap(headers));
  const location = headers.get('location') ?? '';
  const target = URL.canParse(location) ? new URL(location).origin : 'another address';
  return modelCallFailed({
    type: 'model',
    code: 'redirected',
    message: `The server redirects to ${target}, which is not followed. Pass the final URL as { baseURL }.`,
    retryable: false,
    ...(status > 0 ? { status } : null),
    ...(requestId !== undefined && { requestId }),
  });
}

/** Returns keys and secret headers, for a provider that repeats them in its errors. */
export function secretsOf(options: OpenAIConnection): readonly string[] {
  const headers = Object.entries(options.headers ?? {})
    .filter(([name]) => defaultRedactor.isSecretKey(name))
    .flatMap(([, value]) => [value, value.replace(/^\w+\s+/, '')]);
  const keys = [
    options.apiKey,
    options.client?.apiKey,
    options.apiKeyVariable && environment(options.apiKeyVariable),
  ];
  return [...headers, ...keys, environment('OPENAI_API_KEY')]
    .filter((secret) => typeof secret === 'string')
    .filter((secret) => secret !== '');
}

/** Returns the same failure without the secrets. */
export function withoutSecrets(thrown: unknown, secrets: readonly string[]): unknown {
  if (!AgentError.is(thrown, 'model_call_failed')) return thrown;
  const { report, partial } = readFailure(thrown);
  const message = withoutKnown(report.message, secrets);
  return message === report.message ? thrown : modelCallFailed({ ...report, message }, partial);
}

export function checkAddress(baseURL: string | undefined): void {
  if (baseURL !== undefined && !(typeof baseURL === 'string' && URL.canParse(baseURL)))
    throw invalidOption('baseURL', baseURL, 'a URL such as http://127.0.0.1:11434/v1');
}
