import { AgentError, type SessionRuntime } from 'onward';
import type { OwnerHook } from 'onward/broadcasting';
import { agentServer } from 'onward/server';
import { describe, expect, it, vi } from 'vitest';
import {
  calls,
  operations,
  operator,
  requestFor,
  setup,
  unusedAgUi,
  unusedMcp,
  waitingSession,
  type AskOptions,
  type Setup,
} from './setup.ts';

/**
 * One successful request of ann per route, on a session that needs approval. A route without a sample fails the tests
 * below, so that these checks cover every route.
 */
const samples: Readonly<Record<string, (id: string) => AskOptions & { readonly query?: string }>> =
  {
    health: () => ({}),
    openapi: () => ({}),
    info: () => ({}),
    listSessions: () => ({ query: '?limit=10' }),
    createSession: () => ({ body: {} }),
    countAttention: () => ({}),
    readOverview: () => ({ query: '?range=14d&utcOffset=60' }),
    changeSessions: (id) => ({ body: { action: 'delete', ids: [id] } }),
    getSession: () => ({}),
    deleteSession: () => ({}),
    readMessages: () => ({}),
    sendMessage: () => ({ body: { content: 'Hi', whenBusy: 'queue' } }),
    streamEvents: () => ({}),
    readCompactions: () => ({ query: '?limit=10' }),
    readLog: () => ({}),
    readRef: () => ({ query: '?ref=1.content.x' }),
    readTrace: () => ({}),
    replaySession: () => ({}),
    replaySessions: () => ({ query: '?limit=10' }),
    exportSession: () => ({}),
    readModelCall: () => ({ query: '?step=1' }),
    readToolCalls: () => ({ query: '?step=1' }),
    readPayload: () => ({ query: '?step=1&part=raw.request' }),
    compareRuns: (id) => ({ query: `?left=${id}&right=${id}` }),
    answerApproval: () => ({ body: { decision: 'approve' } }),
    approveAll: () => ({ body: {} }),
    listRules: () => ({}),
    revokeRule: () => ({ body: { rule: 'none' } }),
    answerInput: () => ({ body: { inputId: 'none', action: 'decline' } }),
    stopSession: () => ({ body: {} }),
    pauseSession: () => ({ body: {} }),
    resumeSession: () => ({ body: { approvals: { [calls[0]]: { approve: true } } } }),
    retrySession: () => ({ body: {} }),
    forkSession: () => ({ body: { atStep: 1, id: 'fork' } }),
    authorisePusher: (id) => ({
      body: { socket_id: '1.2', channel_name: `private-agent.${id}` },
    }),
    // a session of ann, whose result only ann gets
    mcp: (id) => ({
      headers: { accept: 'application/json, text/event-stream' },
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'support', arguments: { sessionId: id } },
      },
    }),
    // a thread of ann
    agUi: (id) => ({ body: { threadId: id, runId: 'run', messages: [] } }),
    listWorkers: () => ({}),
    readQueue: () => ({}),
    listAllSessions: () => ({ query: '?owner=ann&attention=false&by=cost&total=true' }),
    countAllAttention: () => ({}),
    readWholeOverview: () => ({ query: '?range=1h' }),
    changeAllSessions: (id) => ({ body: { action: 'stop', ids: [id] } }),
    listParked: () => ({ query: '?owner=ann&limit=10' }),
    retryParked: (id) => ({ body: { ids: [id] } }),
  };

const open = new Set(['health', 'openapi']);
/** Routes over the work of all owners, closed to owners. */
const forOperators = new Set([
  'listWorkers',
  'readQueue',
  'listParked',
  'retryParked',
  'listAllSessions',
  'countAllAttention',
  'readWholeOverview',
  'changeAllSessions',
]);
/** Routes without a session in their path. */
const withoutSession = new Set([
  'info',
  'listSessions',
  'replaySessions',
  'createSession',
  'mcp',
  'countAttention',
  'readOverview',
  'changeSessions',
]);

/** Status for ann if it is not the documented one: her session is paused, and has no such ref, rule or question. */
const toOwner: Readonly<Record<string, number>> = {
  sendMessage: 409,
  readRef: 404,
  revokeRule: 404,
  answerInput: 404,
};

const pusher = { key: 'app', secret: 'shh-this-is-secret' };
const silent = { wiretap: () => () => {} } as unknown as SessionRuntime; // only the OpenAPI document is read
const routes = operations(
  agentServer({
    runtime: silent,
    owner: () => null,
    pusher,
    mcp: unusedMcp,
    agUi: unusedAgUi,
    admin: () => null,
  }),
);

const pathOf = (path: string, id: string): string =>
  `/api${path.replace('{id}', id).replace('{callId}', calls[0])}`;

/** Returns all sessions of ann with messages and events. */
async function everything(runtime: SessionRuntime): Promise<unknown> {
  const { sessions } = await runtime.list({ owner: 'ann', limit: 200 });
  return Promise.all(
    sessions.map(async ({ id }) => [
      await runtime.get(id, { owner: 'ann' }),
      await runtime.messages(id, { owner: 'ann' }),
      await runtime.events(id, { owner: 'ann' }),
    ]),
  );
}

const asked = ({ ask }: Setup, name: string, line: string, id: string, more: AskOptions) => {
  const { query = '', ...options } = samples[name]!(id);
  return ask(`${line}${query}`, { ...options, ...more });
};

it('every route has a sample, and every sample has a route', () => {
  const names = routes.map(({ operation }) => operation.operationId);
  expect(Object.keys(samples).toSorted()).toEqual(names.toSorted());
  expect(new Set(names).size).toBe(names.length);
});

const titled = routes.map((one) => [`${one.method} ${one.path}`, one] as const);
const isForOperators = ({ operation }: (typeof routes)[number]): boolean =>
  forOperators.has(operation.operationId);

it('the routes for operators are those under /admin', () => {
  const paths = routes.filter(isForOperators).map(({ path }) => path);
  expect(paths).toHaveLength(forOperators.size);
  expect(paths).toEqual(routes.map(({ path }) => path).filter((path) => path.startsWith('/admin')));
});

describe.each(titled.filter(([, one]) => isForOperators(one)))(
  '%s',
  (_title, { method, path, operation }) => {
    const { operationId: name } = operation;

    it('refuses everyone but operators, and changes nothing', async () => {
      const here = setup({ admin: operator });
      const id = await waitingSession(here);
      const before = await everything(here.runtime);
      expect(operation.security).toEqual([{ operator: [] }]);
      for (const as of [null, 'dan', '', 'ann', 'bob', 'Root', 'root root']) {
        const said = await asked(here, name, `${method} ${pathOf(path, id)}`, id, { as });
        expect(said.status).toBe(403);
        expect(said.body).toEqual({
          error: { code: 'forbidden', message: 'This path is for operators.' },
        });
      }
      expect(await everything(here.runtime)).toEqual(before);
    });

    it('does not exist without the hook', async () => {
      const here = setup();
      const id = await waitingSession(here);
      for (const as of [null, 'ann', 'root']) {
        const line = `${method} ${pathOf(path, id)}`;
        const said = await asked(here, name, line, id, { as });
        const none = await here.ask(`${method} /api/admin/nothing`, { as });
        expect([said.status, said.text]).toEqual([404, none.text]);
      }
      const preflight = await here.ask(`OPTIONS ${pathOf(path, id)}`);
      expect(preflight.status).toBe(404);
      expect(Object.keys(here.server.openapi['paths'] as object)).not.toContain(path);
      expect(JSON.stringify(here.server.openapi)).not.toMatch(/Worker|ParkedPage|admin/);
    });

    it('works for an operator, and shows nothing of a conversation', async () => {
      const here = setup({ admin: operator });
      const id = await waitingSession(here);
      const line = `${method} ${pathOf(path, id)}`;
      const said = await asked(here, name, line, id, { as: 'root' });
      expect(said.status).toBe(Number(Object.keys(operation.responses)[0]));
      expect(said.text).not.toContain('lamp');
    });
  },
);

describe.each(titled.filter(([, one]) => !isForOperators(one)))(
  '%s',
  (_title, { method, path, operation }) => {
    const { operationId: name } = operation;
    const isOpen = open.has(name);

    it(
      isOpen ? 'is open to all' : 'requires a sign-in and changes nothing without it',
      async () => {
        const here = setup({ pusher, admin: operator });
        const id = await waitingSession(here);
        const before = await everything(here.runtime);
        expect(operation.security === undefined).toBe(!isOpen);
        for (const as of [null, 'dan', '', 'ann ann']) {
          const said = await asked(here, name, `${method} ${pathOf(path, id)}`, id, { as });
          expect(said.status).toBe(isOpen ? 200 : 401);
          if (isOpen) continue;
          expect(said.body).toEqual({
            error: { code: 'unauthorized', message: 'The request is not signed in.' },
          });
          expect(said.headers.get('www-authenticate')).toBe('Bearer');
        }
        expect(await everything(here.runtime)).toEqual(before);
      },
    );

    if (isOpen) return;

    it('reveals and changes nothing for another owner', async () => {
      const here = setup({ pusher, admin: operator });
      const { runtime } = here;
      const id = await waitingSession(here);
      const before = await everything(runtime);
      const line = `${method} ${pathOf(path, id)}`;
      const foreign = await asked(here, name, line, id, { as: 'bob' });
      expect(await everything(runtime)).toEqual(before);
      expect(foreign.text).not.toContain('lamp');
      if (withoutSession.has(name)) {
        // bob gets only his own sessions
        expect(foreign.text).not.toContain('ann');
        if (name === 'listSessions') expect(foreign.body.sessions).toEqual([]);
        return;
      }
      expect([403, 404]).toContain(foreign.status);
      expect((await runtime.list({ owner: 'bob' })).sessions).toEqual([]);
      // the response is the same after the session is deleted
      await runtime.delete(id, { owner: 'ann' });
      const missing = await asked(here, name, line, id, { as: 'bob' });
      expect([missing.status, missing.text]).toEqual([foreign.status, foreign.text]);
      const names = ({ headers }: typeof missing) => [...headers.keys()].toSorted();
      expect(names(missing)).toEqual(names(foreign));
    });

    it('works for the owner', async () => {
      const here = setup({ pusher, admin: operator });
      const id = await waitingSession(here);
      const { query = '', ...options } = samples[name]!(id);
      const response = await here.server(
        requestFor(`${method} ${pathOf(path, id)}${query}`, options),
      );
      void response.body?.cancel();
      expect(response.status).toBe(toOwner[name] ?? Number(Object.keys(operation.responses)[0]));
    });
  },
);

it('answers 409 without details to an id that another owner uses', async () => {
  const here = setup();
  const id = await waitingSession(here);
  const before = await everything(here.runtime);
  const said = await here.ask('POST /api/sessions', { as: 'bob', body: { id, message: 'Hi' } });
  expect([said.status, said.body.error.code]).toEqual([409, 'conflict']);
  expect(await everything(here.runtime)).toEqual(before);
});

it('an operator is no owner', async () => {
  const here = setup({ admin: operator });
  const id = await waitingSession(here);
  for (const line of ['GET /api/sessions', `GET /api/sessions/${id}`, `DELETE /api/sessions/${id}`])
    expect((await here.ask(line, { as: 'root' })).status).toBe(401);
});

describe('the owner hook', () => {
  it('may respond itself, and its errors are internal errors without details', async () => {
    const seen: [unknown, string][] = [];
    const hooks: Record<string, () => unknown> = {
      '/own': () => new Response('no', { status: 403, headers: { vary: 'cookie' } }),
      '/redirect': () => Response.redirect('http://localhost/login'),
      '/throw': () => {
        throw new AgentError('invalid_option', 'password=hunter2 for db.internal');
      },
      '/number': () => 7,
      '/long': () => 'x'.repeat(500),
      '/nouser': () => undefined,
    };
    const { server, ask } = setup({
      owner: (request) => hooks[`/${request.headers.get('x-case')}`]!() as ReturnType<OwnerHook>,
      cors: { origins: ['https://app.example'] },
      onError: (error, _request, requestId) => seen.push([error, requestId]),
    });
    const of = (name: string) =>
      server(requestFor('GET /api/sessions', { headers: { 'x-case': name } }));
    const own = await of('own');
    expect([own.status, await own.text()]).toEqual([403, 'no']);
    expect(own.headers.get('vary')).toBe('cookie, origin');
    expect(own.headers.get('x-request-id')).toBeTruthy();
    expect((await of('redirect')).headers.get('location')).toBe('http://localhost/login');
    expect((await of('nouser')).status).toBe(401);
    for (const name of ['throw', 'number', 'long']) {
      const said = await ask('GET /api/sessions', { headers: { 'x-case': name } });
      expect(said.status).toBe(500);
      const requestId = said.headers.get('x-request-id')!;
      expect(said.body.error).toEqual({
        code: 'internal',
        message: expect.not.stringContaining('hunter2'),
        details: { requestId },
      });
      expect(seen.at(-1)![1]).toBe(requestId);
    }
    expect(seen).toHaveLength(3);
  });

  it('answers 503 with Retry-After if the store fails, and reports the reason', async () => {
    const { ask, errors, runtime } = setup();
    const failure = new AgentError('store_failed', 'disk full at /var/db');
    vi.spyOn(runtime, 'get').mockRejectedValue(failure);
    const said = await ask('GET /api/sessions/s');
    expect(said.status).toBe(503);
    expect(said.headers.get('retry-after')).toBe('2');
    expect(said.text).not.toContain('disk');
    expect(errors.splice(0)).toEqual([failure]);
  });

  it('is reported as an error if it reads the body', async () => {
    const { ask, errors } = setup({
      owner: async (request) => {
        await request.text();
        return 'ann';
      },
    });
    const said = await ask('POST /api/sessions', { body: {} });
    expect(said.status).toBe(500);
    expect(String(errors.splice(0))).toContain('Read only headers in it');
  });

  it('logs an unexpected error without secrets, and sends only the request id to the client', async () => {
    const spy = vi.spyOn(console, 'error').mockImplementation(() => {});
    const runtime = {
      wiretap: () => () => {},
      get: () => Promise.reject(new Error('boom with sk-live-CANARY0123456789abcdef')),
    } as unknown as SessionRuntime;
    const server = agentServer({ runtime, owner: () => 'ann' });
    const response = await server(
      requestFor('GET /api/sessions/x', { headers: { 'x-request-id': 'from-proxy.1' } }),
    );
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      error: {
        code: 'internal',
        message: expect.any(String),
        details: { requestId: 'from-proxy.1' },
      },
    });
    const [[line]] = spy.mock.calls as [[string]];
    expect(line).toContain('GET /api/sessions/x (from-proxy.1) failed: Error: boom');
    expect(line).not.toContain('CANARY');
    const broken = agentServer({
      runtime,
      owner: () => 'ann',
      onError: () => {
        throw new Error('the logger is broken');
      },
    });
    expect((await broken(requestFor('GET /api/sessions/x'))).status).toBe(500);
    spy.mockRestore();
  });
});
