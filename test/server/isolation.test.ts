import { AgentError, type SessionRuntime } from 'onward';
import type { OwnerHook } from 'onward/broadcasting';
import { agentServer } from 'onward/server';
import { describe, expect, it, vi } from 'vitest';
import {
  calls,
  operations,
  requestFor,
  setup,
  waitingSession,
  type AskOptions,
  type Setup,
} from './setup.ts';

/**
 * One request per route that works for ann on a session that waits for her. A route that is not here fails the tests
 * below: a new route says how it is called, and every check here covers it.
 */
const samples: Readonly<Record<string, (id: string) => AskOptions & { readonly query?: string }>> =
  {
    health: () => ({}),
    openapi: () => ({}),
    info: () => ({}),
    listSessions: () => ({ query: '?limit=10' }),
    createSession: () => ({ body: {} }),
    getSession: () => ({}),
    deleteSession: () => ({}),
    readMessages: () => ({}),
    sendMessage: () => ({ body: { content: 'Hi', whenBusy: 'queue' } }),
    streamEvents: () => ({}),
    readLog: () => ({}),
    readRef: () => ({ query: '?ref=1.content.x' }),
    readTrace: () => ({}),
    answerApproval: () => ({ body: { decision: 'approve' } }),
    stopSession: () => ({ body: {} }),
    pauseSession: () => ({ body: {} }),
    resumeSession: () => ({ body: { approvals: { [calls[0]]: { approve: true } } } }),
    retrySession: () => ({ body: {} }),
    forkSession: () => ({ body: { atStep: 1, id: 'fork' } }),
    authorisePusher: (id) => ({
      body: { socket_id: '1.2', channel_name: `private-agent.${id}` },
    }),
  };

const open = new Set(['health', 'openapi']);
/** Nothing in their address belongs to anybody. */
const withoutSession = new Set(['info', 'listSessions', 'createSession']);

/** What ann hears where it is not the answer of the document: her session waits, and its log has no such ref. */
const toOwner: Readonly<Record<string, number>> = { sendMessage: 409, readRef: 404 };

const pusher = { key: 'app', secret: 'shh-this-is-secret' };
const silent = { wiretap: () => () => {} } as unknown as SessionRuntime; // only its document is read
const routes = operations(agentServer({ runtime: silent, owner: () => null, pusher }));

const pathOf = (path: string, id: string): string =>
  `/api${path.replace('{id}', id).replace('{callId}', calls[0])}`;

/** All that ann has, as she can see it, and all that the log tells. */
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

it('every route has a sample, and no sample is of a route that is gone', () => {
  const names = routes.map(({ operation }) => operation.operationId);
  expect(Object.keys(samples).toSorted()).toEqual(names.toSorted());
  expect(new Set(names).size).toBe(names.length);
});

describe.each(routes.map((one) => [`${one.method} ${one.path}`, one] as const))(
  '%s',
  (_title, { method, path, operation }) => {
    const { operationId: name } = operation;
    const isOpen = open.has(name);

    it(isOpen ? 'is open to all' : 'wants a sign-in, and changes nothing without', async () => {
      const here = setup({ pusher });
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
    });

    if (isOpen) return;

    it('another owner learns nothing and changes nothing', async () => {
      const here = setup({ pusher });
      const { runtime } = here;
      const id = await waitingSession(here);
      const before = await everything(runtime);
      const line = `${method} ${pathOf(path, id)}`;
      const foreign = await asked(here, name, line, id, { as: 'bob' });
      expect(await everything(runtime)).toEqual(before);
      expect(foreign.text).not.toContain('lamp');
      if (withoutSession.has(name)) {
        // bob gets his own: none, or a new one
        expect(foreign.text).not.toContain('ann');
        if (name === 'listSessions') expect(foreign.body.sessions).toEqual([]);
        return;
      }
      expect([403, 404]).toContain(foreign.status);
      expect((await runtime.list({ owner: 'bob' })).sessions).toEqual([]);
      // the very same request once there is no such session any more
      await runtime.delete(id, { owner: 'ann' });
      const missing = await asked(here, name, line, id, { as: 'bob' });
      expect([missing.status, missing.text]).toEqual([foreign.status, foreign.text]);
      const names = ({ headers }: typeof missing) => [...headers.keys()].toSorted();
      expect(names(missing)).toEqual(names(foreign));
    });

    it('works for the owner, so that the refusals above mean something', async () => {
      const here = setup({ pusher });
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

it('an id of another owner is taken, and the response says nothing more', async () => {
  const here = setup();
  const id = await waitingSession(here);
  const before = await everything(here.runtime);
  const said = await here.ask('POST /api/sessions', { as: 'bob', body: { id, message: 'Hi' } });
  expect([said.status, said.body.error.code]).toEqual([409, 'conflict']);
  expect(await everything(here.runtime)).toEqual(before);
});

describe('the owner hook', () => {
  it('may answer itself, is never told to clients, and its faults are those of the server', async () => {
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

  it('asks the client to come back later when the store fails, and reports the reason', async () => {
    const { ask, errors, runtime } = setup();
    const failure = new AgentError('store_failed', 'disk full at /var/db');
    vi.spyOn(runtime, 'get').mockRejectedValue(failure);
    const said = await ask('GET /api/sessions/s');
    expect(said.status).toBe(503);
    expect(said.headers.get('retry-after')).toBe('2');
    expect(said.text).not.toContain('disk');
    expect(errors.splice(0)).toEqual([failure]);
  });

  it('reports a hook that reads the body as a fault', async () => {
    const { ask, errors } = setup({
      owner: async (request) => {
        await request.text();
        return 'ann';
      },
    });
    const said = await ask('POST /api/sessions', { body: {} });
    expect(said.status).toBe(500);
    expect(String(errors.splice(0))).toContain('Let it read headers only');
  });

  it('an unexpected error is logged without secrets, and the client gets the request id alone', async () => {
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
