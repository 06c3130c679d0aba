import type { GrantAllowance } from '../../continuation/grant-allowance.ts';
import type { Grants } from '../../continuation/grants.ts';
import { isRecord, type JsonObject } from '../../json.ts';
import type { EnvelopeSource } from './envelope-source.ts';
import { shown, type HttpOptions } from './http-reads.ts';
import type { AgentSessionActions, SentFile } from './session-actions.ts';
import { sseSource, type SseSourceOptions } from './sse-source.ts';

export interface HttpActionsOptions extends HttpOptions {
  /** Base URL of onward/server, such as `/api`. */
  readonly base: string;
  readonly sessionId: string;
  /** What to do with a message for a busy session: `queue` accepts it. Default: the server refuses it. */
  readonly whenBusy?: 'refuse' | 'queue';
}

/** A refused request, with the server's message. */
export class HttpActionError extends Error {
  override readonly name = 'HttpActionError';
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  /** The server's `error.code`, such as `conflict`; `unreachable` without a response. */
  readonly code: string;
  /** The execution that the response names, if any. */
  readonly executionId: string | null;

  constructor(
    status: number,
    code: string,
    message: string,
    options: ErrorOptions & { readonly executionId?: string | null } = {},
  ) {
    super(message, options);
    this.status = status;
    this.code = code;
    this.executionId = options.executionId ?? null;
  }

  /** Whether `error` is an `HttpActionError`. Works across duplicate installs, where `instanceof` does not. */
  static is(error: unknown, code?: string): error is HttpActionError {
    const candidate = error as Partial<HttpActionError> | null;
    return candidate?.name === 'HttpActionError' && (code === undefined || candidate.code === code);
  }
}

/** Creates the user's actions as requests to onward/server. */
export function httpActions(options: HttpActionsOptions): Required<AgentSessionActions> {
  const session = sessionUrl(options);
  const { whenBusy } = options;
  const post = (path: string, body: JsonObject): Promise<unknown> =>
    postJson(`${session}/${path}`, body, options);
  const answer = (callId: string, body: JsonObject): Promise<unknown> =>
    post(`approvals/${encodeURIComponent(callId)}`, body);
  return {
    attaches: true,
    async send(text, { id, files = [] }) {
      const content = files.length === 0 ? text : partsOf(text, files);
      const body = { content, executionId: id, ...(whenBusy && { whenBusy }) };
      try {
        return await post('messages', body);
      } catch (thrown) {
        // the first attempt had reached the server, and only its response was lost
        if (HttpActionError.is(thrown, 'conflict') && thrown.executionId === id)
          return { executionId: id };
        throw thrown;
      }
    },
    approve: (callId, args, shown) =>
      answer(callId, { decision: 'approve', ...(args !== undefined && { args }), ...shown }),
    deny: (callId, reason, shown) => answer(callId, { decision: 'deny', reason, ...shown }),
    remembers: true,
    approveAll: (calls) =>
      post('approvals', { calls: calls.map((call): JsonObject => ({ ...call })) }),
    answer: (inputId, answer, shown) => post('inputs', { inputId, ...answer, ...shown }),
    stop: () => post('stop', {}),
    resume: (grant?: Grants) => post('resume', grant === undefined ? {} : { grant: { ...grant } }),
    retry: () => post('retry', {}),
  };
}

const partsOf = (text: string, files: readonly SentFile[]): JsonObject[] => [
  ...(text.trim() === '' ? [] : [{ type: 'text', text }]),
  ...files.map(({ type, data, media_type: mediaType, filename }) => ({
    type,
    data,
    mediaType,
    ...(filename !== '' && { filename }),
  })),
];

export interface HttpSessionOptions
  extends HttpActionsOptions, Pick<SseSourceOptions, 'silenceMs' | 'backoff'> {}

/** Creates source and actions for onward/server: `useAgentSession(httpSession({ base: '/api', sessionId }))`. */
export function httpSession(options: HttpSessionOptions): {
  readonly source: EnvelopeSource;
  readonly actions: Required<AgentSessionActions>;
  /** Reads what the user may still grant. */
  readonly allowance: () => Promise<GrantAllowance | null>;
} {
  const session = sessionUrl(options);
  const { headers, credentials, fetch, silenceMs, backoff } = options;
  return {
    source: sseSource({
      url: `${session}/events`,
      refillUrl: `${session}/log`,
      historyUrl: `${session}/messages`,
      ...(headers && { headers }),
      ...(credentials && { credentials }),
      ...(fetch && { fetch }),
      ...(silenceMs !== undefined && { silenceMs }),
      ...(backoff && { backoff }),
    }),
    actions: httpActions(options),
    async allowance() {
      const detail = await requestJson(session, { method: 'GET' }, options);
      // from our own server; an earlier release sends none
      return isRecord(detail) ? ((detail['allowance'] ?? null) as GrantAllowance | null) : null;
    },
  };
}

const sessionUrl = ({ base, sessionId }: HttpActionsOptions): string =>
  `${base.replace(/\/+$/, '')}/sessions/${encodeURIComponent(sessionId)}`;

const postJson = (url: string, body: JsonObject, options: HttpOptions): Promise<unknown> =>
  requestJson(
    url,
    {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    },
    options,
  );

async function requestJson(
  url: string,
  request: Pick<RequestInit, 'body' | 'method'> & { readonly headers?: Record<string, string> },
  options: HttpOptions,
): Promise<unknown> {
  const { headers, credentials, fetch: send = globalThis.fetch } = options;
  const own = typeof headers === 'function' ? await headers() : headers;
  let response: Response;
  try {
    response = await send(url, {
      ...request,
      headers: { accept: 'application/json', ...request.headers, ...own },
      ...(credentials && { credentials }),
    });
  } catch (cause) {
    throw new HttpActionError(0, 'unreachable', 'The server does not answer.', { cause });
  }
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) return answer;
  throw refusal(`${request.method} ${shown(url)}`, response.status, answer);
}

/** Returns the server's message; a response of a proxy is not shown. */
function refusal(request: string, status: number, answer: unknown): HttpActionError {
  const error = isRecord(answer) && isRecord(answer['error']) ? answer['error'] : {};
  const { code, message, details } = error;
  const executionId = isRecord(details) ? details['executionId'] : null;
  return new HttpActionError(
    status,
    typeof code === 'string' ? code : 'refused',
    typeof message === 'string' ? message : `${request} answered ${status}.`,
    { executionId: typeof executionId === 'string' ? executionId : null },
  );
}
