import { describe, expect, it } from 'vitest';
import { ScenarioStep } from 'onward/testing';
import { systemClock } from '../../src/clock.ts';
import { calls, setup, waitingSession } from './setup.ts';

const { final, toolCall } = ScenarioStep;

const ann = { owner: 'ann' };

/** A wall clock that returns an earlier time with each call. */
const setBack = (): (() => number) => {
  let now = Date.UTC(2026, 5, 1);
  return () => (now -= 60_000);
};

describe('a conversation', () => {
  it('is sent, approved, and read as UI messages', async () => {
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

    const together = `POST /api/sessions/${id}/approvals`;
    const seen = { callId: calls[0], executionId: 'other', argsHash: 'f'.repeat(64) };
    const stale = await ask(together, { body: { calls: [seen] } });
    expect([stale.status, stale.body.error.code]).toEqual([409, 'stale_approval']);
    const unbound = await ask(together, { body: { calls: [{ callId: calls[0] }] } });
    expect([unbound.status, unbound.body.error.code]).toEqual([400, 'invalid_request']);

    const path = (callId: string) => `POST /api/sessions/${id}/approvals/${callId}`;
    const denied = { decision: 'deny', reason: 'no', remember: 'session' };
    expect((await ask(path(calls[0]), { body: denied })).status).toBe(400);
    const edited = { decision: 'approve', args: { article: 'desk' } };
    const bad = await ask(path(calls[0]), { body: { decision: 'approve', args: { no: 1 } } });
    expect([bad.status, bad.body.error.code]).toEqual([422, 'invalid_approval']);
    const kept = { ...edited, remember: 'session' };
    expect((await ask(path(calls[0]), { body: kept })).status).toBe(202);
    const twice = await ask(path(calls[0]), { body: edited });
    expect([twice.status, twice.body.error.code]).toEqual([409, 'conflict']);
    const strange = await ask(path('unknown'), { body: { decision: 'approve' } });
    expect([strange.status, strange.body.error.code]).toEqual([404, 'unknown_approval']);
    const no = await ask(path(calls[1]), { body: { decision: 'deny', reason: 'keep it' } });
    expect(no.status).toBe(202);
    expect(await runtime.wait(id, ann)).toMatchObject({ status: 'completed', output: 'All done.' });
    const rules = async () => (await ask(`GET /api/sessions/${id}/rules`)).body.rules;
    expect(await rules()).toMatchObject([{ tool: 'remove', by: 'ann' }]);
    const [{ id: rule }] = await rules();
    const revoke = `POST /api/sessions/${id}/rules/revoke`;
    expect((await ask(revoke, { body: { rule: 'other' } })).status).toBe(404);
    expect((await ask(revoke, { body: { rule } })).body).toEqual({ rules: [] });
    await runtime.wait(id, ann);
    const late = await ask(path(calls[1]), { body: { decision: 'approve' } });
    expect([late.status, late.body.error.code]).toEqual([409, 'not_resumable']);

    const { body: history } = await ask(`GET /api/sessions/${id}/messages`);
    expect(history.before).toBeNull();
    const rows = history.messages.map((row: { role: string; metadata: object }) => [
      row.role,
      ...Object.keys(row.metadata),
    ]);
    const marks = ['step', 'execution_id'];
    const timed = ['tool', 'tool_call_id', 'tool_name', 'tool_result', 'tool_duration_ms'];
    const called = ['assistant', 'tool_calls', ...marks];
    expect(rows).toEqual([
      ['user'],
      called,
      [...timed, ...marks],
      called,
      [...timed, ...marks, 'tool_approval'],
      [...timed, 'tool_error', 'tool_error_code', ...marks, 'tool_approval'],
      ['assistant', ...marks],
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

  it.each([
    ['is right', systemClock],
    ['is repeatedly set back', { ...systemClock, now: setBack() }],
  ])('has tool durations on every page if the clock %s', async (_name, clock) => {
    const look = toolCall('look', { article: 'lamp' });
    const turn = [look, look, look, look, final('Done.')];
    const { ask, runtime } = setup({
      turns: Array.from({ length: 10 }, () => turn),
      agentClock: clock,
    });
    await ask('POST /api/sessions', { body: { id: 's' } });
    // the clock is read once per execution
    for (let n = 0; n < 10; n++) {
      await ask('POST /api/sessions/s/messages', { body: { content: 'go' } });
      await runtime.wait('s', ann);
    }
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

  it('continues after a limit with the suggested grant', async () => {
    const { ask, runtime } = setup({
      turns: [[toolCall('look'), final('Got it.')]],
      maxSteps: 1,
    });
    await ask('POST /api/sessions', { body: { id: 's', message: 'go' } });
    await runtime.wait('s', ann);
    const { body } = await ask('GET /api/sessions/s');
    // every limit has facts, also one that did not decide
    const said = expect.arrayContaining([
      expect.objectContaining({
        criterion: 'ExecutionTimeLimit',
        facts: expect.objectContaining({ kind: 'limit', unit: 'seconds' }),
      }),
    ]);
    expect(body).toMatchObject({
      status: 'stopped',
      stopReason: 'steps_limit',
      outcome: { resolvedBy: 'StepsLimit', shouldContinue: false, evaluations: said },
      stop: { lead: 'Stopped because', action: { kind: 'grant' } },
    });
    const none = await ask('POST /api/sessions/s/resume');
    expect([none.status, none.body.error.code]).toEqual([409, 'not_resumable']);
    const { grant } = body.stop.action;
    const granted = await ask('POST /api/sessions/s/resume', { body: { grant } });
    expect(granted.status).toBe(202);
    expect(await runtime.wait('s', ann)).toMatchObject({ output: 'Got it.' });
    const { body: trace } = await ask('GET /api/sessions/s/trace');
    expect(trace).toMatchObject({
      sessionId: 's',
      status: 'completed',
      grants: grant,
      steps: [{ outcome: { evaluations: said } }, { outcome: { evaluations: said } }],
      outcome: { evaluations: said },
    });
  });

  it('can be resumed with answers, forked and stopped', async () => {
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
