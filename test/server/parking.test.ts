import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { until } from '../setup/sessions.ts';
import { setup } from './setup.ts';

const { final } = ScenarioStep;
const ann = { owner: 'ann' };

function brokenSetup() {
  let isBroken = true;
  const here = setup({
    turns: [[final('one')], [final('two')]],
    sessions: {
      lease: { leaseMs: 60, heartbeatMs: 20 },
      onError: () => {},
      deps: () => {
        if (isBroken) throw new Error('tenant was removed');
        return {};
      },
    },
  });
  return {
    ...here,
    repair: () => {
      isBroken = false;
    },
  };
}

describe('a parked session over HTTP', () => {
  it('is listed with its error, refuses messages, and is retried', async () => {
    const { ask, runtime, repair } = brokenSetup();
    await ask('POST /api/sessions', { body: { id: 's', message: 'go' } });
    await ask('POST /api/sessions', { body: { id: 'other' } });
    await runtime.wait('s', ann);
    const { body: page } = await ask('GET /api/sessions?phase=parked');
    expect(page.sessions).toMatchObject([
      {
        id: 's',
        status: 'failed',
        phase: 'parked',
        error: 'tenant was removed',
        tries: 5,
        reason: 'Gave up · tenant was removed',
      },
    ]);
    const { body: searched } = await ask('GET /api/sessions?phase=idle&search=go');
    expect(searched.sessions).toEqual([]);
    expect((await ask('GET /api/sessions?phase=lost')).status).toBe(400);
    const { body: detail } = await ask('GET /api/sessions/s');
    expect(detail).toMatchObject({
      phase: 'parked',
      stop: { lead: 'Failed because', action: { kind: 'retry', label: 'Retry' } },
    });
    const refused = await ask('POST /api/sessions/s/messages', { body: { content: 'hello?' } });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'parked']);
    const queued = await ask('POST /api/sessions/s/messages', {
      body: { content: 'and then?', whenBusy: 'queue' },
    });
    expect(queued.status).toBe(202);
    const resumed = await ask('POST /api/sessions/s/resume', { body: {} });
    expect([resumed.status, resumed.body.error.code]).toEqual([409, 'parked']);
    expect((await ask('GET /api/sessions/s/trace')).body.stop.action).toMatchObject({
      kind: 'retry',
    });

    repair();
    const retried = await ask('POST /api/sessions/s/retry', { body: {} });
    expect(retried).toMatchObject({ status: 202, body: { id: 's', parkedAt: null, error: null } });
    expect(await runtime.wait('s', ann)).toMatchObject({ status: 'completed', output: 'two' });
    expect((await ask('POST /api/sessions/s/retry')).status).toBe(202);
    expect((await ask('POST /api/sessions/nope/retry')).status).toBe(404);
  });

  it('sends its status to open streams before and after a retry', async () => {
    const { server, runtime, ask, repair } = brokenSetup();
    await ask('POST /api/sessions', { body: { id: 's' } });
    const request = new Request('http://here/api/sessions/s/events', {
      headers: { authorization: 'Bearer ann' },
    });
    const { body } = await server(request);
    const statuses: string[] = [];
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    void (async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        for (const [, data = ''] of value.matchAll(/^data: (\{.*"agent\.status".*\})$/gm)) {
          const { payload } = JSON.parse(data) as { payload: Record<string, string> };
          statuses.push(`${payload['status']}: ${payload['error_message'] ?? ''}`);
        }
      }
    })();
    await ask('POST /api/sessions/s/messages', { body: { content: 'go' } });
    await until(() => statuses.length >= 2);
    expect(statuses).toEqual(['processing: ', 'failed: tenant was removed']);
    repair();
    await ask('POST /api/sessions/s/retry');
    await runtime.wait('s', ann);
    await until(() => statuses.length >= 4);
    expect(statuses.slice(2)).toEqual(['processing: ', 'completed: ']);
    await reader.cancel();
  });
});
