import type { Envelope } from '../../src/broadcasting/envelope.ts';
import type { ServerInfo, SessionDetail, SessionSummary } from '../../src/server/api.ts';
import type { Trace } from '../../src/trace/trace.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly search: URLSearchParams;
  readonly body: Record<string, unknown>;
}

/** A fake server for the whole console. Its fields can be changed at any time. */
export class ShellServer {
  readonly asked: Asked[] = [];
  token: string = 'tok';
  isDown: boolean = false;
  /** Error responses by `METHOD /path`. */
  readonly refusals: Map<string, { status: number; code: string; message: string }> = new Map();
  pageSize: number = 50;
  sessions: SessionSummary[] = [];
  traces: Map<string, Trace> = new Map();
  envelopes: Map<string, Envelope[]> = new Map();
  info: ServerInfo = {
    name: 'Partner desk',
    version: '1.2.3',
    owner: 'dev',
    maxAttachmentBytes: 3_000_000,
    store: 'SQLite · .onward/sessions.db',
    agents: [agentInfo('partner-assistant', 'Partner assistant')],
    isOperator: false,
  };
  readonly #streams: Map<string, Set<ReadableStreamDefaultController<Uint8Array>>> = new Map();

  readonly fetch: typeof fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : String(input));
    init?.signal?.throwIfAborted();
    if (this.isDown) throw new TypeError('fetch failed');
    const method = init?.method ?? 'GET';
    const path = url.pathname.replace(/^.*\/api/, '');
    const text = typeof init?.body === 'string' ? init.body : '{}';
    const body = JSON.parse(text) as Record<string, unknown>;
    this.asked.push({ method, path, search: url.searchParams, body });
    const { authorization } = (init?.headers ?? {}) as Record<string, string>;
    if (authorization !== `Bearer ${this.token}`) return refused(401, 'unauthorized', 'No.');
    const refusal = this.refusals.get(`${method} ${path}`);
    if (refusal) return refused(refusal.status, refusal.code, refusal.message);
    return this.#answer({ method, path, search: url.searchParams, body }, init?.signal ?? null);
  };

  /** Sends envelopes to all current and later streams. */
  say(sessionId: string, ...envelopes: readonly Envelope[]): void {
    const log = this.envelopes.get(sessionId) ?? [];
    log.push(...envelopes);
    this.envelopes.set(sessionId, log);
    for (const stream of this.#streams.get(sessionId) ?? [])
      for (const envelope of envelopes) stream.enqueue(frame(envelope));
  }

  /** Counts the requests of a route. */
  count(method: string, path: string): number {
    return this.asked.filter((one) => one.method === method && one.path === path).length;
  }

  #answer({ method, path, search, body }: Asked, signal: AbortSignal | null): Response {
    const [, , id = '', action] = path.split('/').map(decodeURIComponent);
    if (path === '/info') return Response.json(this.info);
    if (path === '/sessions') return method === 'GET' ? this.#list(search) : this.#create(body);
    const session = this.sessions.find((one) => one.id === id);
    if (!session) return refused(404, 'session_not_found', 'There is no such session.');
    if (action === 'trace') return this.#trace(id, search);
    if (action === 'messages' && method === 'GET')
      return Response.json({ messages: [], before: null });
    if (action === 'tool-calls') return Response.json({ status: 'pruned', calls: [] });
    if (action === 'log') return this.#log(id);
    if (action === 'events') return this.#listen(id, signal);
    if (action === 'fork') return this.#create({ message: `Fork of ${session.title}` });
    if (method === 'DELETE') {
      this.sessions = this.sessions.filter((one) => one !== session);
      return new Response(null, { status: 204 });
    }
    return Response.json(detailOf(session), { status: method === 'GET' ? 200 : 202 });
  }

  /** The trace of an agent behind a call is under `session/call`. */
  #trace(id: string, search: URLSearchParams): Response {
    const call = search.get('call');
    if (call === null) return Response.json(this.traces.get(id) ?? emptyTrace(id));
    const nested = this.traces.get(`${id}/${call}`);
    return nested
      ? Response.json(nested)
      : refused(400, 'invalid_option', 'No agent behind this call.');
  }

  #list(search: URLSearchParams): Response {
    const words = (search.get('search') ?? '').toLowerCase();
    const found = this.sessions.filter(({ title }) => title?.toLowerCase().includes(words));
    const start = Number(search.get('cursor') ?? 0);
    const end = start + this.pageSize;
    return Response.json({
      sessions: found.slice(start, end),
      matches: {},
      cursor: end < found.length ? String(end) : null,
      total: search.has('total') ? found.length : null,
    });
  }

  #create(body: Record<string, unknown>): Response {
    const session = summary(`made_${this.sessions.length}`, {
      title: String(body['message']),
      status: 'processing',
      reason: 'Working',
    });
    this.sessions.unshift(session);
    return Response.json(detailOf(session), { status: 201 });
  }

  #log(id: string): Response {
    const envelopes = this.envelopes.get(id) ?? [];
    const last = envelopes.at(-1);
    return Response.json({
      execution_id: last?.execution_id ?? null,
      envelopes,
      seq: last?.seq ?? 0,
      more: false,
    });
  }

  #listen(id: string, signal: AbortSignal | null): Response {
    const streams = this.#streams.get(id) ?? new Set();
    this.#streams.set(id, streams);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        streams.add(controller);
        signal?.addEventListener('abort', () => {
          if (streams.delete(controller)) controller.error(new TypeError('aborted'));
        });
      },
      cancel: () => {},
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }
}

const frame = (envelope: Envelope): Uint8Array =>
  new TextEncoder().encode(`event: ${envelope.type}\ndata: ${JSON.stringify(envelope)}\n\n`);

const refused = (status: number, code: string, message: string): Response =>
  Response.json({ error: { code, message } }, { status });

export const agentInfo = (name: string, title: string): ServerInfo['agents'][number] => ({
  name,
  title,
  description: `What ${title} does.`,
  model: 'demo model',
  isDemo: true,
  tools: [{ name: 'delete_lead', description: 'Deletes a lead.', needsApproval: true }],
  limits: { steps: 5 },
  suggestions: ['Which programs renew?'],
});

export const summary = (id: string, more: Partial<SessionSummary> = {}): SessionSummary => ({
  id,
  agent: 'partner-assistant',
  title: `Title of ${id}`,
  status: 'completed',
  phase: 'idle',
  error: null,
  parkedAt: null,
  tries: 0,
  reason: 'Completed · 3 steps',
  waitingFor: [],
  executionId: 'exe_1',
  messageCount: 2,
  stepCount: 3,
  cost: 0.0123,
  model: 'demo',
  errors: 0,
  attention: null,
  createdAt: new Date().toISOString(),
  updatedAt: new Date().toISOString(),
  ...more,
});

const usage = { input: 0, output: 0, total: 0, cachedInput: 0, reasoning: 0 };

const detailOf = (session: SessionSummary): SessionDetail => ({
  ...session,
  usage,
  cost: null,
  grants: {},
  grantLog: [],
  forkedFrom: null,
  lastRetry: null,
  allowance: null,
  info: {
    startedAt: session.createdAt,
    updatedAt: session.updatedAt,
    stepCount: 0,
    answeredSteps: 0,
    usage,
    cost: null,
    cumulativeExecutionSeconds: 0,
  },
  executionStepCount: session.stepCount,
  pause: null,
  pendingApprovals: [],
  pendingInputs: [],
  stopReason: null,
  outcome: null,
  output: null,
  metadata: {},
  stop: null,
});

const emptyTrace = (sessionId: string): Trace => ({
  sessionId,
  agent: 'partner-assistant',
  executionId: null,
  status: 'idle',
  executions: [],
  startedAt: null,
  totals: {
    steps: { used: 0, limit: null },
    seconds: { used: 0, limit: null },
    tokens: { used: 0, limit: null },
    cost: { used: null, limit: null },
    inputTokens: 0,
    outputTokens: 0,
    failedCalls: 0,
    modelMs: 0,
    toolMs: 0,
    backoffMs: 0,
    pausedMs: 0,
  },
  steps: [],
  hasEarlier: false,
  pauses: [],
  outcome: null,
  stop: null,
  grants: {},
});
