import { describe, expect, it } from 'vitest';
import { ScenarioStep } from 'onward/testing';
import { SseClient } from '../setup/sse.ts';
import { agentServer } from 'onward/server';
import { builderWith, followingDriver, runtimeOn, sqlitePlace } from '../setup/sessions.ts';
import { asking, calls, owner, requestFor, setup, waitingSession } from './setup.ts';

const { error, final, toolCall } = ScenarioStep;

const ann = { owner: 'ann' };

describe('the history of a session', () => {
  it('is returned as a trace', async () => {
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
    const other = await ask(`GET /api/sessions/${id}/trace?execution=unknown`);
    expect(other.status).toBeLessThan(500);
    const empty = await ask('POST /api/sessions', { body: { id: 'new' } });
    expect(empty.status).toBe(201);
    expect((await ask('GET /api/sessions/new/trace')).body).toMatchObject({
      executionId: null,
      steps: [],
    });
  });

  it('opens the agent behind a call, for the owner alone', async () => {
    const inner = builderWith(followingDriver([final('lamp found')]))
      .withName('inner')
      .build();
    const agent = builderWith(
      followingDriver([toolCall('ask', { input: 'lamp?' }), final('done')]),
      inner.asTool({ name: 'ask', description: 'Asks.' }),
    ).build();
    const runtime = runtimeOn(sqlitePlace().open(), agent);
    const ask = asking(agentServer({ runtime, owner, rateLimit: null }));
    await ask('POST /api/sessions', { body: { id: 's', message: 'go' } });
    await runtime.wait('s', ann);
    const { body } = await ask('GET /api/sessions/s/trace');
    const [, bar] = body.steps[0].bars;
    expect(bar.child).toMatchObject({ agent: 'inner', status: 'completed', steps: 1 });
    const line = `GET /api/sessions/s/trace?call=${bar.callId}&step=1`;
    const opened = await ask(line);
    expect(opened.body).toMatchObject({
      agent: 'inner',
      status: 'completed',
      nested: { callId: bar.callId, above: [{ agent: 'support', callId: null, step: 1 }] },
    });
    const foreign = await ask(line, { as: 'bob' });
    expect([foreign.status, foreign.text.includes('inner')]).toEqual([404, false]);
    for (const bad of ['call=none', 'call=x&step=0', 'call=x&step=y', 'call=%00'])
      expect((await ask(`GET /api/sessions/s/trace?${bad}`)).status).toBe(400);
  });

  it('shows a failed run in the session and the trace', async () => {
    const { ask, runtime } = setup({ turns: [[error({ type: 'model', message: 'boom' })]] });
    await ask('POST /api/sessions', { body: { id: 's', message: 'go' } });
    await runtime.wait('s', ann);
    const { body } = await ask('GET /api/sessions/s');
    expect(body).toMatchObject({ status: 'failed', stop: { lead: 'Failed because' } });
    expect((await ask('GET /api/sessions/s/trace')).body.status).toBe('failed');
  });

  it('is returned from the log after a position, with truncated values by their ref', async () => {
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

  it('is streamed live, with whole arguments and every evaluation', async () => {
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
