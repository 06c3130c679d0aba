import { describe, expect, it } from 'vitest';
import { ScenarioStep } from 'onward/testing';
import { version } from '../../src/server/version.ts';
import { clientOn, sqlitePlace, agentWith } from '../setup/sessions.ts';
import { agentServer } from 'onward/server';
import { asking, owner, requestFor, setup, waitingSession } from './setup.ts';

const { final } = ScenarioStep;

describe('server routes', () => {
  it('health and the OpenAPI document need no sign-in', async () => {
    const { ask, server } = setup();
    expect((await ask('GET /api/health', { as: null })).body).toEqual({ ok: true, version });
    const { body } = await ask('GET /api/openapi.json', { as: null });
    expect(body).toEqual(server.openapi);
  });

  it('info returns the agents and the owner', async () => {
    const { ask } = setup();
    const { body, status } = await ask('GET /api/info', { as: 'bob' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'test', owner: 'bob', store: 'SQLite', version });
    expect(body.agents).toEqual([
      {
        name: 'support',
        title: 'support',
        description: '',
        model: 'following',
        isDemo: false,
        tools: [
          { name: 'look', description: 'Looks something up.', needsApproval: false },
          { name: 'remove', description: 'Removes an article.', needsApproval: true },
        ],
        limits: expect.objectContaining({ StepsLimit: 20 }),
        suggestions: [],
      },
    ]);
  });
});

it('the Pusher route accepts a form or JSON and signs only for the owner', async () => {
  const pusher = { key: 'app', secret: 'shh-this-is-secret' };
  const all = setup({ pusher });
  const id = await waitingSession(all);
  const channel = `private-agent.${id}`;
  const body = { socket_id: '1.2', channel_name: channel };
  const json = await all.ask('POST /api/pusher/auth', { body });
  expect(json.status).toBe(200);
  expect(json.body.auth).toMatch(/^app:[0-9a-f]{64}$/);
  const form = await all.ask('POST /api/pusher/auth', {
    body: new URLSearchParams(body).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(form.body).toEqual(json.body);
  expect((await all.ask('POST /api/pusher/auth', { body, as: 'bob' })).status).toBe(403);
  expect(JSON.stringify(all.server.openapi)).not.toContain(pusher.secret);
  const { ask } = setup();
  expect((await ask('POST /api/pusher/auth', { body })).status).toBe(404);
});

it('the base path can be changed, and an unknown agent is refused', async () => {
  const agent = agentWith([final('a')]);
  const runtime = clientOn(sqlitePlace().open(), [agent]);
  const rooted = agentServer({ runtime, owner, basePath: '' });
  expect((await rooted(requestFor('GET /health'))).status).toBe(200);
  expect(rooted.openapi['servers']).toEqual([{ url: '/' }]);
  const deep = agentServer({ runtime, owner, basePath: '/v1/agents/' });
  expect((await deep.fetch(requestFor('GET /v1/agents/health'))).status).toBe(200);
  expect((await deep(requestFor('GET /api/health'))).status).toBe(404);
  const unknown = await asking(agentServer({ runtime, owner }))('POST /api/sessions', {
    body: { agent: 'unknown' },
  });
  expect([unknown.status, unknown.body.error.code]).toEqual([400, 'unknown_agent']);
  expect(unknown.body.error.details).toEqual({ agent: 'unknown', known: ['support'] });
  for (const server of [rooted, deep]) await server.close();
});

it.each([
  [{ basePath: 'api' }, 'basePath'],
  [{ basePath: '/a b' }, 'basePath'],
  [{ maxBodyBytes: 0 }, 'maxBodyBytes'],
  [{ maxStreams: -1 }, 'maxStreams'],
  [{ rateLimit: { requests: 0, seconds: 1 } }, 'rateLimit'],
  [{ cors: { origins: ['*'] } }, 'cors.origins'],
  [{ cors: { origins: ['https://a.example/'] } }, 'cors.origins'],
  [{ owner: 'ann' as never }, 'owner'],
])('refuses invalid options: %j', (options, name) => {
  const runtime = clientOn(sqlitePlace().open(), agentWith([]));
  expect(() => agentServer({ runtime, owner, ...options })).toThrow(name);
});
