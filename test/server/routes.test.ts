import { describe, expect, it } from 'vitest';
import { ScenarioStep } from 'onward/testing';
import { version } from '../../src/server/version.ts';
import { SseClient } from '../setup/sse.ts';
import { clientOn, sqlitePlace, agentWith } from '../setup/sessions.ts';
import { agentServer } from 'onward/server';
import { asking, calls, owner, requestFor, setup, waitingSession } from './setup.ts';

const { error, final, toolCall } = ScenarioStep;
const ann = { owner: 'ann' };

describe('about the server', () => {
  it('health and the document need no sign-in', async () => {
    const { ask, server } = setup();
    expect((await ask('GET /api/health', { as: null })).body).toEqual({ ok: true, version });
    const { body } = await ask('GET /api/openapi.json', { as: null });
    expect(body).toEqual(server.openapi);
  });

  it('info tells of the agents, and who asks', async () => {
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

describe('sessions', () => {
  it('are made, read, and deleted', async () => {
    const { ask, runtime } = setup();
    const made = await ask('POST /api/sessions', { body: { id: 'a;b=c', metadata: { plan: 1 } } });
    expect(made.status).toBe(201);
    expect(made.headers.get('location')).toBe('/api/sessions/a%3Bb%3Dc');
    expect(made.body).toMatchObject({ id: 'a;b=c', status: 'idle', metadata: { plan: 1 } });
    expect(made.body).not.toHaveProperty('owner');
    const read = await ask('GET /api/sessions/a%3Bb%3Dc');
    expect(read.body).toEqual(made.body);
    const head = await ask('HEAD /api/sessions/a;b=c');
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await ask('DELETE /api/sessions/a;b=c')).status).toBe(204);
    expect((await ask('GET /api/sessions/a;b=c')).status).toBe(404);
    expect((await runtime.list(ann)).sessions).toEqual([]);
  });

  it('without a body too; an id that is taken is a conflict', async () => {
    const { ask } = setup();
    const made = await ask('POST /api/sessions');
    expect(made.status).toBe(201);
    expect(made.body.id).toMatch(/^[0-9a-f-]{36}$/);
    const again = await ask('POST /api/sessions', { body: { id: made.body.id } });
    expect([again.status, again.body.error.code]).toEqual([409, 'conflict']);
  });

  it('begin with a message that is sent at once', async () => {
    const { ask, runtime } = setup({ turns: [[final('Hello.')]] });
    const { body, status } = await ask('POST /api/sessions', { body: { message: 'Hi' } });
    expect(status).toBe(201);
    expect(body.executionId).toEqual(expect.any(String));
    const done = await runtime.wait(body.id, ann);
    expect(done).toMatchObject({ status: 'completed', output: 'Hello.' });
    const { body: read } = await ask(`GET /api/sessions/${body.id}`);
    expect(read).toMatchObject({ status: 'completed', title: 'Hi', stop: { action: null } });
  });

  it('of a message that cannot be sent nothing is left: the same id can be tried again', async () => {
    const full = { start() {}, add() {}, isFull: true, waiting: 9, drain: async () => {} };
    const { ask, runtime } = setup({ sessions: { queue: full } });
    const said = await ask('POST /api/sessions', { body: { id: 'x', message: 'Hi' } });
    expect(said.status).toBe(503);
    expect(said.body).toEqual({ error: { code: 'queue_full', message: 'Try again soon.' } });
    expect(said.headers.get('retry-after')).toBe('2');
    expect((await runtime.list(ann)).sessions).toEqual([]);
  });

  it('are listed newest change first, in pages, by agent, status and words', async () => {
    const { ask, runtime } = setup({
      turns: [[final('Hello.')]],
      maxSteps: 1,
    });
    for (const id of ['one', 'two', 'three']) await ask('POST /api/sessions', { body: { id } });
    await ask('POST /api/sessions/two/messages', { body: { content: 'Where is my lamp?' } });
    await runtime.wait('two', ann);
    const ids = async (query: string): Promise<string[]> => {
      const { body } = await ask(`GET /api/sessions?${query}`);
      return body.sessions.map(({ id }: { id: string }) => id);
    };
    expect((await ids('')).toSorted()).toEqual(['one', 'three', 'two']);
    expect((await ids('limit=1'))[0]).toBe('two');
    const first = await ask('GET /api/sessions?limit=2');
    const cursor = encodeURIComponent(first.body.cursor);
    const second = await ask(`GET /api/sessions?limit=2&cursor=${cursor}`);
    expect(second.body.sessions).toHaveLength(1);
    expect(second.body.cursor).toBeNull();
    expect(await ids('status=completed')).toEqual(['two']);
    expect(await ids('search=lamp')).toEqual(['two']);
    expect(await ids('search=lamp&status=idle')).toEqual([]);
    expect(await ids('agent=nobody')).toEqual([]);
    expect(first.body.sessions[0]).toMatchObject({
      id: 'two',
      title: 'Where is my lamp?',
      status: 'completed',
      waitingFor: [],
      stepCount: 1,
    });
  });

  it('stopped and cancelled are told apart, over all pages', async () => {
    const { ask, runtime } = setup({
      turns: [[toolCall('remove', { article: 'lamp' })]],
      maxSteps: 1,
    });
    for (const id of ['l1', 'c1', 'l2', 'c2', 'c3']) {
      await ask('POST /api/sessions', { body: { id, message: 'go' } });
      const { pendingApprovals } = await runtime.wait(id, ann);
      const { callId } = pendingApprovals[0]!;
      await (id.startsWith('l')
        ? ask(`POST /api/sessions/${id}/approvals/${callId}`, { body: { decision: 'approve' } })
        : ask(`POST /api/sessions/${id}/stop`, { body: { reason: 'enough' } }));
      await runtime.wait(id, ann);
    }
    const list = async (status: string): Promise<string[]> => {
      const ids: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const place = `limit=1&status=${status}&cursor=${encodeURIComponent(cursor)}`;
        const { body } = await ask(`GET /api/sessions?${place}`);
        expect(body.sessions.length).toBeLessThanOrEqual(1);
        for (const one of body.sessions) {
          expect(one.status).toBe(status);
          ids.push(one.id);
        }
        ({ cursor } = body);
      }
      return ids;
    };
    expect(await list('stopped')).toEqual(['l2', 'l1']);
    expect(await list('cancelled')).toEqual(['c3', 'c2', 'c1']);
    expect(await list('failed')).toEqual([]);
  });
});

describe('a conversation', () => {
  it('is sent, waits, is answered, and can be read as a screen shows it', async () => {
    const all = setup();
    const { ask, runtime } = all;
    const id = await waitingSession(all);
    const { body: waiting } = await ask(`GET /api/sessions/${id}`);
    expect(waiting).toMatchObject({
      status: 'paused',
      pause: { kind: 'approval' },
      stop: { lead: 'Waiting because' },
      pendingApprovals: [
        { callId: calls[0], tool: 'remove', args: { article: 'lamp' } },
        { callId: calls[1], tool: 'remove', args: { article: 'shade' } },
      ],
    });
    const { body: list } = await ask('GET /api/sessions');
    expect(list.sessions[0].waitingFor).toEqual(
      calls.map((callId) => ({ callId, tool: 'remove' })),
    );
    const early = await ask(`POST /api/sessions/${id}/messages`, { body: { content: 'Now?' } });
    expect([early.status, early.body.error.code]).toEqual([409, 'awaiting_approval']);
    expect(early.body.error.details.pending).toEqual(calls);

    const path = (callId: string) => `POST /api/sessions/${id}/approvals/${callId}`;
    const edited = { decision: 'approve', args: { article: 'desk' } };
    const bad = await ask(path(calls[0]), { body: { decision: 'approve', args: { no: 1 } } });
    expect([bad.status, bad.body.error.code]).toEqual([422, 'invalid_approval']);
    expect((await ask(path(calls[0]), { body: edited })).status).toBe(202);
    const twice = await ask(path(calls[0]), { body: edited });
    expect([twice.status, twice.body.error.code]).toEqual([409, 'conflict']);
    const strange = await ask(path('nobody'), { body: { decision: 'approve' } });
    expect([strange.status, strange.body.error.code]).toEqual([404, 'unknown_approval']);
    const no = await ask(path(calls[1]), { body: { decision: 'deny', reason: 'keep it' } });
    expect(no.status).toBe(202);
    expect(await runtime.wait(id, ann)).toMatchObject({ status: 'completed', output: 'All done.' });
    const late = await ask(path(calls[1]), { body: { decision: 'approve' } });
    expect([late.status, late.body.error.code]).toEqual([409, 'not_resumable']);

    const { body: history } = await ask(`GET /api/sessions/${id}/messages`);
    expect(history.before).toBeNull();
    const rows = history.messages.map((row: { role: string; metadata: object }) => [
      row.role,
      ...Object.keys(row.metadata),
    ]);
    const timed = ['tool', 'tool_call_id', 'tool_name', 'tool_result', 'tool_duration_ms'];
    expect(rows).toEqual([
      ['user'],
      ['assistant', 'tool_calls'],
      timed,
      ['assistant', 'tool_calls'],
      timed,
      [...timed, 'tool_error'],
      ['assistant'],
    ]);
    const page = await ask(`GET /api/sessions/${id}/messages?limit=3`);
    expect(page.body.messages).toEqual(history.messages.slice(-3));
    const before = await ask(`GET /api/sessions/${id}/messages?limit=3&before=${page.body.before}`);
    expect(before.body.messages).toEqual(history.messages.slice(1, 4));

    const next = await ask(`POST /api/sessions/${id}/messages`, {
      body: { content: [{ type: 'text', text: 'And?' }], executionId: 'second', whenBusy: 'queue' },
    });
    expect(next.status).toBe(202);
    expect(next.body).toEqual({ sessionId: id, executionId: 'second', status: 'processing' });
    expect(await runtime.wait(id, ann)).toMatchObject({ output: 'And again.' });
  });

  it('durations and errors of tools are there on old pages of a long conversation too', async () => {
    const step = toolCall('look', { article: 'lamp' });
    const long = [...Array.from({ length: 40 }, () => step), final('Done.')];
    const { ask, runtime } = setup({ turns: [long], maxSteps: 60 });
    await ask('POST /api/sessions', { body: { id: 's', message: 'go' } });
    await runtime.wait('s', ann);
    const seen: { role: string; metadata: { tool_duration_ms?: number } }[] = [];
    for (let before = ''; ;) {
      const { body } = await ask(`GET /api/sessions/s/messages?limit=7${before}`);
      seen.unshift(...body.messages);
      if (body.before === null) break;
      before = `&before=${body.before}`;
    }
    const results = seen.filter(({ role }) => role === 'tool');
    expect(results).toHaveLength(40);
    expect(results.filter(({ metadata }) => metadata.tool_duration_ms === undefined)).toEqual([]);
  });

  it('goes on past a limit with the grant that its stop names', async () => {
    const { ask, runtime } = setup({
      turns: [[toolCall('look'), final('Got it.')]],
      maxSteps: 1,
    });
    await ask('POST /api/sessions', { body: { id: 's', message: 'go' } });
    await runtime.wait('s', ann);
    const { body } = await ask('GET /api/sessions/s');
    expect(body).toMatchObject({
      status: 'stopped',
      stopReason: 'steps_limit',
      outcome: { resolvedBy: 'StepsLimit', shouldContinue: false },
      stop: { lead: 'Stopped because', action: { kind: 'grant' } },
    });
    const none = await ask('POST /api/sessions/s/resume');
    expect([none.status, none.body.error.code]).toEqual([409, 'not_resumable']);
    const { grant } = body.stop.action;
    const granted = await ask('POST /api/sessions/s/resume', { body: { grant } });
    expect(granted.status).toBe(202);
    expect(await runtime.wait('s', ann)).toMatchObject({ output: 'Got it.' });
    const { body: trace } = await ask('GET /api/sessions/s/trace');
    expect(trace).toMatchObject({ sessionId: 's', status: 'completed', grants: grant });
  });

  it('answers of resume, a pause, a stop and a fork', async () => {
    const all = setup();
    const { ask, runtime } = all;
    const id = await waitingSession(all);
    const answers = { [calls[0]]: { approve: true }, [calls[1]]: { deny: 'no' } };
    const { status } = await ask(`POST /api/sessions/${id}/resume`, {
      body: { approvals: answers },
    });
    expect(status).toBe(202);
    await runtime.wait(id, ann);
    const idle = await ask(`POST /api/sessions/${id}/pause`, { body: { reason: 'lunch' } });
    expect([idle.status, idle.body.status]).toEqual([202, 'completed']);
    const fork = await ask(`POST /api/sessions/${id}/fork`, { body: { atStep: 1, id: 'copy' } });
    expect(fork.status).toBe(201);
    expect(fork.headers.get('location')).toBe('/api/sessions/copy');
    expect(fork.body).toMatchObject({ id: 'copy', status: 'paused', stepCount: 1 });
    const far = await ask(`POST /api/sessions/${id}/fork`, { body: { atStep: 99 } });
    expect([far.status, far.body.error.code]).toEqual([400, 'invalid_option']);
    const other = await waitingSession(all, 'other');
    const stop = await ask(`POST /api/sessions/${other}/stop`, { body: { reason: 'enough' } });
    expect(stop.status).toBe(202);
    await runtime.wait(other, ann);
    expect((await ask(`GET /api/sessions/${other}`)).body).toMatchObject({
      status: 'cancelled',
      stopReason: 'user_requested',
    });
  });
});

describe('what happened', () => {
  it('is told by the trace', async () => {
    const all = setup();
    const { ask } = all;
    const id = await waitingSession(all);
    const { body, status } = await ask(`GET /api/sessions/${id}/trace`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ sessionId: id, agent: 'support', status: 'paused' });
    expect(body.executionId).toEqual(expect.any(String));
    expect(body.steps.length).toBeGreaterThan(0);
    const same = await ask(`GET /api/sessions/${id}/trace?execution=${body.executionId}&limit=9`);
    expect(same.body.executionId).toBe(body.executionId);
    expect(same.body.steps).toHaveLength(body.steps.length);
    const other = await ask(`GET /api/sessions/${id}/trace?execution=nobody`);
    expect(other.status).toBeLessThan(500);
    const empty = await ask('POST /api/sessions', { body: { id: 'new' } });
    expect(empty.status).toBe(201);
    expect((await ask('GET /api/sessions/new/trace')).body).toMatchObject({
      executionId: null,
      steps: [],
    });
  });

  it('a failure is in it, and in the session', async () => {
    const { ask, runtime } = setup({ turns: [[error({ type: 'model', message: 'boom' })]] });
    await ask('POST /api/sessions', { body: { id: 's', message: 'go' } });
    await runtime.wait('s', ann);
    const { body } = await ask('GET /api/sessions/s');
    expect(body).toMatchObject({ status: 'failed', stop: { lead: 'Failed because' } });
    expect((await ask('GET /api/sessions/s/trace')).body.status).toBe('failed');
  });

  it('is told by the log after a place, and values that were cut by their ref', async () => {
    const text = 'long '.repeat(10_000);
    const { ask, runtime } = setup({ turns: [[final(text)]] });
    await ask('POST /api/sessions', { body: { id: 's', message: 'go' } });
    await runtime.wait('s', ann);
    const { body } = await ask('GET /api/sessions/s/log');
    const types = body.envelopes.map(({ type }: { type: string }) => type);
    expect(types).toContain('agent.continuation');
    const { seq, execution_id: run } = body.envelopes[2];
    const rest = await ask(`GET /api/sessions/s/log?after=${seq}@${run}`);
    expect(rest.body.envelopes).toEqual(body.envelopes.slice(3));
    const [, ref = ''] = /"ref":"([^"]+\.content\.[^"]+)"/.exec(JSON.stringify(body)) ?? [];
    const whole = await ask(`GET /api/sessions/s/refs?ref=${encodeURIComponent(ref)}`);
    expect(whole.body).toEqual({ ref, value: text });
    const gone = await ask(`GET /api/sessions/s/refs?ref=999.content.${run}`);
    expect([gone.status, gone.body.error.code]).toEqual([404, 'ref_not_found']);
    expect((await ask('GET /api/sessions/s/refs?ref=x')).status).toBe(400);
    expect((await ask('GET /api/sessions/s/refs')).status).toBe(400);
  });

  it('is streamed as it happens, with whole arguments and every voice', async () => {
    const all = setup();
    const { server, ask } = all;
    await ask('POST /api/sessions', { body: { id: 's' } });
    const response = await server(requestFor('GET /api/sessions/s/events'));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store, no-transform');
    expect(response.headers.get('x-request-id')).toBeTruthy();
    const client = new SseClient(response.body!);
    await ask('POST /api/sessions/s/messages', { body: { content: 'go' } });
    await client.until(() => client.ends > 0);
    const started = client.envelopes.find(({ type }) => type === 'agent.tool.started');
    expect(started?.payload).toMatchObject({ args: { article: 'lamp' } });
    expect(client.envelopes.map(({ type }) => type)).toContain('agent.continuation');
    const place = client.lastId!;
    await client.leave();
    const again = await server(
      requestFor('GET /api/sessions/s/events', { headers: { 'last-event-id': place } }),
    );
    const back = new SseClient(again.body!);
    const answered = ask(`POST /api/sessions/s/approvals/${calls[0]}`, {
      body: { decision: 'approve' },
    });
    await back.until(() => back.numbered.length > 0);
    expect(back.numbered[0]!.prev).toBe(Number.parseInt(place, 10));
    expect((await answered).status).toBe(202);
    await server.close();
    await back.until(() => false);
    expect(back.isEnded).toBe(true);
    const closed = await ask('GET /api/sessions/s/events');
    expect([closed.status, closed.body.error.code]).toEqual([503, 'runtime_closed']);
  });
});

it('Pusher: a form or JSON, signed for the owner alone', async () => {
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

it('may be mounted elsewhere, at the root too, and several agents are chosen by name', async () => {
  const agent = agentWith([final('a')]);
  const runtime = clientOn(sqlitePlace().open(), [agent]);
  const rooted = agentServer({ runtime, owner, basePath: '' });
  expect((await rooted(requestFor('GET /health'))).status).toBe(200);
  expect(rooted.openapi['servers']).toEqual([{ url: '/' }]);
  const deep = agentServer({ runtime, owner, basePath: '/v1/agents/' });
  expect((await deep.fetch(requestFor('GET /v1/agents/health'))).status).toBe(200);
  expect((await deep(requestFor('GET /api/health'))).status).toBe(404);
  const unknown = await asking(agentServer({ runtime, owner }))('POST /api/sessions', {
    body: { agent: 'nobody' },
  });
  expect([unknown.status, unknown.body.error.code]).toEqual([400, 'unknown_agent']);
  expect(unknown.body.error.details).toEqual({ agent: 'nobody', known: ['support'] });
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
])('refuses options that cannot work: %j', (options, name) => {
  const runtime = clientOn(sqlitePlace().open(), agentWith([]));
  expect(() => agentServer({ runtime, owner, ...options })).toThrow(name);
});
