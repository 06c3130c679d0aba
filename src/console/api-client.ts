import type { EvalReport } from '../evals/eval-report.ts';
import type { EvalSuite } from '../evals/eval-reports.ts';
import { isRecord, type JsonValue } from '../json.ts';
import type { ServerInfo, SessionDetail, SessionListPage } from '../server/api.ts';
import type { ReplaySummary } from '../server/replay-view.ts';
import type { Trace } from '../trace/trace.ts';
import { httpSession } from '../ui/sources/http-actions.ts';
import { ApiProblem, problemIn } from './api-problem.ts';

export interface ApiOptions {
  /** Base URL such as `/api`, without a trailing slash. */
  readonly base: string;
  readonly token: () => string | null;
  /** Called with every 401. */
  readonly onSignedOut?: () => void;
  readonly fetch?: typeof fetch;
  /** Timeout of a request in milliseconds. Default: 15,000. */
  readonly timeoutMs?: number;
}

export interface SessionsQuery {
  readonly search?: string;
  readonly cursor?: string;
  readonly limit?: number;
}

export type SessionsPage = Pick<SessionListPage, 'sessions' | 'cursor'>;

export interface TraceQuery {
  readonly execution?: string | null;
  /** A call that runs an agent, and the step of the session's own agent in which it is. */
  readonly call?: string;
  readonly step?: number;
  /** Only steps before this one. */
  readonly before?: number;
  readonly limit?: number;
}

/** Limits to try on recorded runs; absent ones stay as recorded. */
export interface ReplaysQuery {
  readonly maxSteps?: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly seconds?: number;
  readonly errorPolicy?: string;
  readonly agent?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

export interface ReplaysPage {
  readonly replays: readonly ReplaySummary[];
  readonly cursor: string | null;
}

/** The HTTP API as functions; each rejects with an `ApiProblem`. `live` has the user's actions in a session. */
export interface Api {
  info(signal?: AbortSignal): Promise<ServerInfo>;
  sessions(query?: SessionsQuery, signal?: AbortSignal): Promise<SessionsPage>;
  session(id: string, signal?: AbortSignal): Promise<SessionDetail>;
  create(body: { readonly agent?: string; readonly message?: string }): Promise<SessionDetail>;
  remove(id: string): Promise<void>;
  fork(id: string, atStep?: number): Promise<SessionDetail>;
  pause(id: string, reason?: string): Promise<SessionDetail>;
  /** Retries a session that gave up. */
  retry(id: string): Promise<SessionDetail>;
  trace(id: string, query?: TraceQuery, signal?: AbortSignal): Promise<Trace>;
  replays(query: ReplaysQuery, signal?: AbortSignal): Promise<ReplaysPage>;
  ref(id: string, ref: string): Promise<JsonValue>;
  /** Suites with stored eval reports. Only for operators. */
  evals(signal?: AbortSignal): Promise<readonly EvalSuite[]>;
  /** A stored eval report; null if there is none. */
  evalReport(suite: string, number: number, signal?: AbortSignal): Promise<EvalReport | null>;
  /** Reads what a page shows, such as `/compare`. */
  read<T>(path: string, query: object, signal?: AbortSignal): Promise<T>;
  /** Options of `useAgentSession`. */
  live(id: string): ReturnType<typeof httpSession>;
}

export function apiClient(options: ApiOptions): Api {
  const { base, token, onSignedOut, timeoutMs = 15_000 } = options;
  const send: typeof fetch = (...args) => (options.fetch ?? globalThis.fetch)(...args);
  const headers = (): Record<string, string> => {
    const held = token();
    return held === null ? {} : { authorization: `Bearer ${held}` };
  };

  async function ask(method: string, path: string, more: Asked = {}): Promise<unknown> {
    const { body, signal } = more;
    const time = AbortSignal.timeout(timeoutMs);
    let response: Response;
    let answer: unknown;
    try {
      response = await send(`${base}${path}`, {
        method,
        cache: 'no-store',
        headers: {
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers(),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: signal ? AbortSignal.any([signal, time]) : time,
      });
      answer = response.status === 204 ? null : parsed(await response.text());
    } catch (cause) {
      if (signal?.aborted)
        throw new ApiProblem(0, 'aborted', 'The request was canceled.', { cause });
      throw time.aborted
        ? new ApiProblem(0, 'timeout', `No response within ${timeoutMs / 1000} s.`, { cause })
        : new ApiProblem(0, 'unreachable', 'The server does not respond.', { cause });
    }
    if (response.status === 401) onSignedOut?.();
    if (!response.ok) throw problemIn(response.status, answer);
    if (answer === undefined)
      throw new ApiProblem(502, 'unreadable', 'This address does not belong to an Onward server.');
    return answer;
  }
  /** The responses have the types of `src/server/api.ts`, because the server has the same version. */
  const read = <T>(path: string, signal?: AbortSignal): Promise<T> =>
    ask('GET', path, { ...(signal && { signal }) }) as Promise<T>;
  const post = <T>(path: string, body: unknown): Promise<T> =>
    ask('POST', path, { body }) as Promise<T>;
  const at = (id: string): string => `/sessions/${encodeURIComponent(id)}`;

  return {
    info: (signal) => read('/info', signal),
    sessions: (query = {}, signal) => read(`/sessions${queryText(query)}`, signal),
    session: (id, signal) => read(at(id), signal),
    create: (body) => post('/sessions', body),
    remove: async (id) => {
      await ask('DELETE', at(id));
    },
    fork: (id, atStep) => post(`${at(id)}/fork`, atStep === undefined ? {} : { atStep }),
    pause: (id, reason) => post(`${at(id)}/pause`, reason === undefined ? {} : { reason }),
    retry: (id) => post(`${at(id)}/retry`, {}),
    trace: (id, query = {}, signal) => read(`${at(id)}/trace${queryText(query)}`, signal),
    replays: (query, signal) => read(`/replays${queryText(query)}`, signal),
    ref: async (id, ref) => {
      const answer = await read<unknown>(`${at(id)}/refs${queryText({ ref })}`);
      return isRecord(answer) ? (answer['value'] as JsonValue) : null;
    },
    evals: async (signal) =>
      (await read<{ readonly suites: readonly EvalSuite[] }>('/admin/evals', signal)).suites,
    evalReport: async (suite, number, signal) => {
      const path = `/admin/evals/report${queryText({ suite, number })}`;
      return (await read<{ readonly report: EvalReport | null }>(path, signal)).report;
    },
    read: (path, query, signal) => read(`${path}${queryText(query)}`, signal),
    live: (id) => httpSession({ base, sessionId: id, headers, fetch: send, whenBusy: 'queue' }),
  };
}

interface Asked {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Parses JSON; undefined if the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function queryText(query: object): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, unknown][])
    if (typeof value === 'number' || (typeof value === 'string' && value !== ''))
      params.set(name, String(value));
  const text = params.toString();
  return text && `?${text}`;
}
