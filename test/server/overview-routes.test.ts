import { agentServer } from 'onward/server';
import { ScenarioStep, mockTool } from 'onward/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stores } from '../setup/four-stores.ts';
import { newSchema, open } from '../setup/postgres-stores.ts';
import { builderWith, followingDriver, runtimeOn } from '../setup/sessions.ts';
import type { SessionStore } from 'onward/stores';
import { asking, operator, owner } from './setup.ts';

const { final, toolCall } = ScenarioStep;

const fresh: readonly (readonly [string, () => SessionStore])[] = stores.map(([name, make]) => [
  name,
  name === 'postgres' ? () => open({ schema: newSchema() }) : make,
]);

/** Ann has a session whose tool failed, and an empty one; Bob has one like the first. */
async function server(store: SessionStore) {
  const agent = builderWith(
    followingDriver([toolCall('find', { q: 'x' }), final('Nordlicht fits.')]),
    mockTool('find', (args: { q?: string }) => {
      if (args.q === 'x') throw new Error('connection refused by directory.example');
      return 'found';
    }),
  ).build();
  const runtime = runtimeOn(store, agent);
  const api = agentServer({ runtime, owner, admin: operator, rateLimit: null });
  onTestFinished(() => api.close());
  const ask = asking(api);
  await runtime.create({ owner: 'ann', id: 'empty' });
  for (const [id, who] of [
    ['one', 'ann'],
    ['two', 'bob'],
  ] as const) {
    await runtime.create({ owner: who, id });
    await runtime.send(id, 'Look for the lamp', { owner: who, wait: true });
  }
  return { ask, runtime };
}

describe.each(fresh)('lists, search and overview on a %s store', (_name, make) => {
  it('select, sort, search and count the sessions of an owner', async () => {
    const { ask } = await server(make());
    const ids = async (query: string): Promise<string[]> => {
      const { status, body } = await ask(`GET /api/sessions?${query}`);
      expect([query, status]).toEqual([query, 200]);
      return (body.sessions as { id: string }[]).map(({ id }) => id);
    };
    expect(await ids('total=true')).toEqual(['one', 'empty']);
    expect(await ids('hasError=true')).toEqual(['one']);
    expect(await ids('hasError=false')).toEqual(['empty']);
    expect(await ids('statuses=idle,completed')).toEqual(['empty']);
    expect(await ids('statuses=completed,stopped,cancelled,failed')).toEqual(['one']);
    expect(await ids('by=steps&order=asc')).toEqual(['empty', 'one']);
    expect(await ids('by=steps&order=desc')).toEqual(['one', 'empty']);
    expect(await ids('updatedFrom=2100-01-01T00:00:00Z')).toEqual([]);
    expect(await ids('attention=true')).toEqual(['one']);
    expect(await ids('attention=false')).toEqual(['empty']);
    const { body } = await ask('GET /api/sessions?search=refused&total=true');
    expect(body.total).toBeNull();
    expect(body.matches.one).toMatchObject({ place: 'tool_error', step: 1, tool: 'find' });
    expect(body.matches.one.text).toContain('connection refused by directory.example');
    expect((await ask('GET /api/sessions?total=true')).body.total).toBe(2);
    const [first] = (await ask('GET /api/sessions?limit=1')).body.sessions;
    expect(first).toMatchObject({ id: 'one', errors: 1, attention: 'failed' });
    expect(typeof first.model).toBe('string');
  });

  it('summarize the runs of an owner, and of all for operators', async () => {
    const { ask } = await server(make());
    const { body } = await ask('GET /api/overview?range=1h');
    expect(body.attention).toEqual({ gaveUp: 0, stuck: 0, failed: 1, waiting: 0 });
    expect(body.range).toMatchObject({ finished: 0, failed: 1, limited: 0, cancelled: 0 });
    expect(body.range.tools).toEqual([{ tool: 'find', calls: 1, failed: 1 }]);
    expect(body.range.buckets).toHaveLength(12);
    expect(body.range.buckets.at(-1)).toMatchObject({ failed: 1, steps: 1 });
    expect(body.days.buckets).toHaveLength(14);
    const all = await ask('GET /api/admin/overview', { as: 'root' });
    expect(all.body.range.failed).toBe(2);
    const page = await ask('GET /api/admin/sessions?total=true', { as: 'root' });
    expect(page.body.total).toBe(3);
    const rows = page.body.sessions as { id: string; owner: string; title: string | null }[];
    expect(rows.map(({ id, owner: who, title }) => [id, who, title])).toEqual([
      ['two', 'bob', null],
      ['one', 'ann', null],
      ['empty', 'ann', null],
    ]);
    const ofBob = await ask('GET /api/admin/sessions?owner=bob', { as: 'root' });
    expect(ofBob.body.sessions).toHaveLength(1);
  });

  it('change several sessions, and say which were skipped and why', async () => {
    const { ask, runtime } = await server(make());
    const bulk = async (path: string, body: object, as = 'ann') =>
      (await ask(`POST /api/${path}`, { as, body })).body;
    expect(await bulk('bulk', { action: 'stop', ids: ['one', 'two', 'none'] })).toEqual({
      done: [],
      skipped: [
        { id: 'one', code: 'conflict', message: 'It does not run, so there is nothing to stop.' },
        { id: 'two', code: 'session_not_found', message: expect.any(String) },
        { id: 'none', code: 'session_not_found', message: expect.any(String) },
      ],
    });
    expect(await bulk('bulk', { action: 'delete', ids: ['one', 'two', 'one'] })).toMatchObject({
      done: ['one'],
      skipped: [{ id: 'two' }],
    });
    expect((await runtime.list({ owner: 'ann' })).sessions.map(({ id }) => id)).toEqual(['empty']);
    const all = await bulk('admin/bulk', { action: 'delete', ids: ['two', 'gone'] }, 'root');
    expect(all).toMatchObject({ done: ['two'], skipped: [{ id: 'gone' }] });
    expect((await runtime.list({ owner: 'bob' })).sessions).toEqual([]);
  });
});

it.each([
  'statuses=completed,nonsense',
  'updatedFrom=yesterday',
  'updatedFrom=2026-13-01T00:00:00Z',
  'costFrom=-1',
  'costFrom=1e9',
  'by=title',
  'hasError=yes',
])('a list refuses ?%s', async (query) => {
  const { ask } = await server(stores[0]![1]());
  expect((await ask(`GET /api/sessions?${query}`)).status).toBe(400);
});
