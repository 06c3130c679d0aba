import { AgentError } from 'onward';
import { agentServer, type AdminHook } from 'onward/server';
import type { SessionStore } from 'onward/stores';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stores } from '../setup/four-stores.ts';
import { newSchema, open } from '../setup/postgres-stores.ts';
import { builderWith, followingDriver, runtimeOn, until } from '../setup/sessions.ts';
import { asking, operator, owner, requestFor, setup, type Ask } from './setup.ts';

const { final } = ScenarioStep;
const root = { as: 'root' } as const;
const SECRET = 'sk-live-CANARY0123456789abcdef';

/** Each store there is, empty. */
const fresh: readonly (readonly [string, () => SessionStore])[] = stores.map(([name, make]) => [
  name,
  name === 'postgres' ? () => open({ schema: newSchema() }) : make,
]);

/** A server whose sessions are parked at once, until they are repaired. */
function brokenServer(store: SessionStore) {
  let isBroken = true;
  const agent = builderWith(followingDriver([final('done')])).build();
  const runtime = runtimeOn(store, agent, {
    lease: { leaseMs: 60, heartbeatMs: 20 },
    onError: () => {},
    deps: () => {
      if (isBroken) throw new Error(`tenant was removed, token ${SECRET}`);
      return {};
    },
  });
  const server = agentServer({ runtime, owner, admin: operator, rateLimit: null });
  onTestFinished(() => server.close());
  const repair = (): void => {
    isBroken = false;
  };
  return { runtime, store, repair, ask: asking(server) };
}

async function park({ runtime }: ReturnType<typeof brokenServer>, id: string, who: string) {
  await runtime.create({ owner: who, id });
  const { phase } = await runtime.send(id, 'My diary says lamp.', { owner: who, wait: true });
  expect(phase).toBe('parked');
}

const parkedIds = async (ask: Ask, query = ''): Promise<string[]> => {
  const { status, body } = await ask(`GET /api/admin/parked${query}`, root);
  expect(status).toBe(200);
  return (body.sessions as { id: string }[]).map(({ id }) => id);
};

describe.each(fresh)('operators over HTTP, on a %s store', (_name, make) => {
  it('see parked sessions of all owners with their errors, and retry those they name', async () => {
    const here = brokenServer(make());
    const { ask, runtime, repair } = here;
    for (const [id, who] of [
      ['one', 'ann'],
      ['two', 'bob'],
      ['three', 'ann'],
    ] as const)
      await park(here, id, who);
    await runtime.create({ owner: 'ann', id: 'idle' });

    const { body, text } = await ask('GET /api/admin/parked', root);
    expect(body).toMatchObject({ cursor: null });
    expect(body.sessions.at(-1)).toEqual({
      id: 'one',
      owner: 'ann',
      agent: 'support',
      error: expect.stringContaining('tenant was removed'),
      tries: 5,
      deaths: 0,
      parkedAt: expect.any(String),
      lastRetry: null,
    });
    expect(text).not.toContain('CANARY');
    expect(text).not.toContain('lamp');
    expect(await parkedIds(ask, '?owner=bob')).toEqual(['two']);
    expect(await parkedIds(ask, '?agent=other')).toEqual([]);
    const first = await ask('GET /api/admin/parked?limit=2', root);
    expect(first.body.sessions).toHaveLength(2);
    const rest = await parkedIds(ask, `?limit=2&cursor=${encodeURIComponent(first.body.cursor)}`);
    expect(rest).toEqual(['one']);

    const queue = await ask('GET /api/admin/queue', root);
    expect(queue.body).toMatchObject({ waiting: 0, active: 0, parked: 3 });
    expect(queue.body.agents).toMatchObject([{ agent: 'support', parked: 3 }]);

    repair();
    const retried = await ask('POST /api/admin/parked/retry', {
      ...root,
      body: { ids: ['two', 'idle', 'none', 'two'] },
    });
    expect(retried).toMatchObject({
      status: 202,
      body: { retried: ['two'], skipped: ['idle', 'none'], by: 'root' },
    });
    expect(await runtime.wait('two', { owner: 'bob' })).toMatchObject({ output: 'done' });
    expect((await parkedIds(ask)).toSorted()).toEqual(['one', 'three']);
    const { lastRetry } = await runtime.get('two', { owner: 'bob' });
    expect(lastRetry).toEqual({ by: 'root', at: expect.stringMatching(/^\d{4}-/) });
  });

  it('see a worker that runs, and no more of it after it has closed', async () => {
    const { ask, runtime } = brokenServer(make());
    runtime.start();
    const [worker] = await until(async () => {
      const { body } = await ask('GET /api/admin/workers', root);
      return body.workers.length > 0 ? (body.workers as unknown[]) : null;
    });
    expect(worker).toEqual({
      id: expect.any(String),
      status: 'idle',
      host: expect.any(String),
      pid: process.pid,
      agents: ['support'],
      startedAt: expect.any(String),
      active: 0,
      leases: 0,
      expired: 0,
      seenMsAgo: expect.any(Number),
    });
    const queue = await ask('GET /api/admin/queue', root);
    expect(queue.body).toMatchObject({ workers: 1, agents: [{ agent: 'support', workers: 1 }] });
    await runtime.close();
    expect((await ask('GET /api/admin/workers', root)).body).toEqual({ workers: [] });
  });
});

describe('the routes of operators', () => {
  it.each<[string, unknown]>([
    ['no ids', {}],
    ['an empty list', { ids: [] }],
    ['ids that are none', { ids: [7] }],
    ['too many', { ids: Array.from({ length: 201 }, (_, i) => `s${i}`) }],
    ['an unknown field', { ids: ['a'], all: true }],
  ])('refuse a retry with %s', async (_what, body) => {
    const { ask } = setup({ admin: operator });
    const said = await ask('POST /api/admin/parked/retry', { ...root, body });
    expect([said.status, said.body.error.code]).toEqual([400, 'invalid_request']);
  });

  it.each(['limit=0', 'limit=201', 'limit=x', 'cursor=x', `owner=${'x'.repeat(201)}`])(
    'refuse to list with %s',
    async (query) => {
      const { ask } = setup({ admin: operator });
      expect((await ask(`GET /api/admin/parked?${query}`, root)).status).toBe(400);
    },
  );

  it('count the requests of an operator apart from those of an owner with that name', async () => {
    const rateLimit = { requests: 2, seconds: 60 };
    const { ask } = setup({ admin: () => ({ by: 'ann' }), rateLimit });
    for (const status of [200, 200, 429])
      expect((await ask('GET /api/admin/queue')).status).toBe(status);
    expect((await ask('GET /api/info')).status).toBe(200);
  });
});

describe('the admin hook', () => {
  it('may answer itself, and its faults are those of the server', async () => {
    const seen: unknown[] = [];
    const results: Record<string, () => unknown> = {
      own: () => new Response('no', { status: 401 }),
      throws: () => {
        throw new AgentError('invalid_option', 'password=hunter2');
      },
      // an owner hook that was given by mistake
      owner: () => 'ann',
      true: () => true,
      unnamed: () => ({ by: '' }),
      refused: () => false,
      nothing: () => undefined,
    };
    const { server } = setup({
      admin: ((request: Request) =>
        results[request.headers.get('x-case') ?? '']!()) as unknown as AdminHook,
      onError: (error) => seen.push(error),
    });
    const of = (name: string) =>
      server(requestFor('GET /api/admin/queue', { headers: { 'x-case': name } }));
    const own = await of('own');
    expect([own.status, await own.text()]).toEqual([401, 'no']);
    for (const name of ['refused', 'nothing']) expect((await of(name)).status).toBe(403);
    for (const name of ['throws', 'owner', 'true', 'unnamed']) {
      const said = await of(name);
      expect(said.status).toBe(500);
      expect(await said.text()).not.toContain('hunter2');
    }
    expect(seen).toHaveLength(4);
  });

  it('must be a function', () => {
    const admin = true as unknown as AdminHook;
    expect(() => setup({ admin })).toThrow('agentServer admin got true');
  });
});
