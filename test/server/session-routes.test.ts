import { describe, expect, it } from 'vitest';
import { ScenarioStep } from 'onward/testing';
import { setup } from './setup.ts';

const { final, toolCall } = ScenarioStep;

const ann = { owner: 'ann' };

describe('sessions', () => {
  it('are created, read and deleted', async () => {
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

  it('are created without a body, and a used id gets 409', async () => {
    const { ask } = setup();
    const made = await ask('POST /api/sessions');
    expect(made.status).toBe(201);
    expect(made.body.id).toMatch(/^[0-9a-f-]{36}$/);
    const again = await ask('POST /api/sessions', { body: { id: made.body.id } });
    expect([again.status, again.body.error.code]).toEqual([409, 'conflict']);
  });

  it('can be created with a first message', async () => {
    const { ask, runtime } = setup({ turns: [[final('Hello.')]] });
    const { body, status } = await ask('POST /api/sessions', { body: { message: 'Hi' } });
    expect(status).toBe(201);
    expect(body.executionId).toEqual(expect.any(String));
    const done = await runtime.wait(body.id, ann);
    expect(done).toMatchObject({ status: 'completed', output: 'Hello.' });
    const { body: read } = await ask(`GET /api/sessions/${body.id}`);
    expect(read).toMatchObject({ status: 'completed', title: 'Hi', stop: { action: null } });
  });

  it('are not created if the first message cannot be sent', async () => {
    const full = { start() {}, add() {}, isFull: true, waiting: 9, drain: async () => {} };
    const { ask, runtime } = setup({ sessions: { queue: full } });
    const said = await ask('POST /api/sessions', { body: { id: 'x', message: 'Hi' } });
    expect(said.status).toBe(503);
    expect(said.body).toEqual({ error: { code: 'queue_full', message: 'Try again soon.' } });
    expect(said.headers.get('retry-after')).toBe('2');
    expect((await runtime.list(ann)).sessions).toEqual([]);
  });

  it('accept a message once per executionId, also after a prune', async () => {
    const { ask, runtime } = setup({ turns: [[final('Hello.')], [final('Again.')]] });
    await ask('POST /api/sessions', { body: { id: 's' } });
    const send = (content: string, executionId = 'order-1') =>
      ask('POST /api/sessions/s/messages', { body: { content, executionId } });
    expect(await send('hi')).toMatchObject({ status: 202, body: { executionId: 'order-1' } });
    await runtime.wait('s', ann);
    await send('more', 'order-2');
    await runtime.wait('s', ann);
    await runtime.prune({ olderThan: new Date(Date.now() + 1_000) });
    expect(await send('hi')).toMatchObject({
      status: 202,
      body: { sessionId: 's', executionId: 'order-1', status: 'completed' },
    });
    expect(await send('hello')).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict' } },
    });
    expect((await runtime.get('s', ann)).messageCount).toBe(4);
  });

  it.each(['.', '..', 'a/b', 'a b', '\ud800'])(
    'refuse the id %j, which a path cannot contain',
    async (id) => {
      const { ask } = setup({ turns: [] });
      expect((await ask('POST /api/sessions', { body: { id } })).status).toBe(400);
    },
  );

  it('are listed by last change, in pages, by agent, status and search', async () => {
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
    expect(await ids('agent=unknown')).toEqual([]);
    expect(first.body.sessions[0]).toMatchObject({
      id: 'two',
      title: 'Where is my lamp?',
      status: 'completed',
      waitingFor: [],
      stepCount: 1,
    });
  });

  it('are filtered as stopped or cancelled over all pages', async () => {
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
