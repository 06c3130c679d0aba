import { describe, expect, it } from 'vitest';
import {
  accounts,
  call,
  failure,
  iso,
  Log,
  result,
  session,
  step,
  T0,
} from '../../test/trace/records.ts';
import { bars, traced } from '../../test/trace/traced.ts';

describe('pauses', () => {
  const HOURS_14 = 14 * 3_600_000;

  it('an approval overnight takes no space on the axis', () => {
    const log = new Log()
      .started(0, 1)
      .callStarted(100, 'a', 'search')
      .callDone(150, 'a', 'search', 50)
      .at(160, 'ToolApprovalRequested', { toolCallId: 'b', tool: 'delete_lead', args: { id: 1 } })
      .paused(160, 0, ['b', 'delete_lead'])
      .resumed(160 + HOURS_14, 0)
      .callStarted(170 + HOURS_14, 'b', 'delete_lead', { id: 1 })
      .callDone(200 + HOURS_14, 'b', 'delete_lead', 30);
    const trace = traced({
      steps: [
        step(1, 0, 210, {
          toolCalls: [call('a', 'search'), call('b', 'delete_lead', { id: 1 })],
          results: [result('a', 50), result('b', 30)],
        }),
      ],
      events: log.events,
    });
    expect(bars(trace.steps[0]!)).toEqual([
      ['model', 0, 100, 'ok'],
      ['search', 100, 50, 'ok'],
      ['delete_lead', 170, 30, 'ok'],
    ]);
    expect(trace.steps[0]!.bars[1]).toMatchObject({ pausedMs: 0, answer: null });
    expect(trace.steps[0]!.bars[2]).toMatchObject({ pausedMs: HOURS_14, answer: 'approved' });
    expect(trace.pauses).toEqual([
      { at: 160, step: 1, durationMs: HOURS_14, kind: 'approval', reason: null },
    ]);
    expect(trace.totals).toMatchObject({ pausedMs: HOURS_14, seconds: { used: 0.21 } });
  });

  it('shows denied and edited calls, also from the step only', () => {
    const trace = traced({
      steps: [
        step(1, 0, 100, {
          toolCalls: [call('a', 'mail'), call('b', 'delete_lead')],
          results: [
            result('a', 5),
            result('b', 0, { kind: 'denied', value: 'Denied by a person: no' }),
          ],
          notes: ['argsEdited:a'],
        }),
      ],
    });
    const [, edited, denied] = trace.steps[0]!.bars;
    expect(edited).toMatchObject({ answer: 'edited', state: 'ok', error: null });
    expect(denied).toMatchObject({
      answer: 'denied',
      state: 'denied',
      error: 'Denied by a person: no',
    });
  });

  it('a paused step is the last one, and its pause has no end', () => {
    const log = new Log()
      .started(1_000, 2)
      .at(1_500, 'ToolApprovalRequested', { toolCallId: 'b', tool: 'delete_lead', args: {} })
      .paused(1_500, 1, ['b', 'delete_lead']);
    const waiting = { callId: 'b', tool: 'delete_lead', args: {}, path: [] };
    const pause = { kind: 'approval' as const, at: iso(1_500) };
    const trace = traced({
      session: session({ status: 'paused', pause, pendingApprovals: [waiting] }),
      steps: [step(1, 0, 1_000, { toolCalls: [call('a', 'search')], results: [result('a', 5)] })],
      events: log.events,
      accounts: accounts({
        answeredSteps: 1,
        stepCount: 1,
        cumulativeSeconds: 1.5,
        usage: { input: 300, output: 30, total: 330, cachedInput: 0, reasoning: 0 },
        cost: 0.03,
      }),
      accountsAfter: accounts({
        stepCount: 1,
        usage: { input: 100, output: 10, total: 110, cachedInput: 0, reasoning: 0 },
        cost: 0.01,
      }),
      now: T0 + 61_500,
    });
    expect(trace.status).toBe('paused');
    expect(trace.steps[1]).toMatchObject({
      number: 2,
      type: 'waiting',
      at: 1_000,
      durationMs: 500,
      inputTokens: 200,
      outputTokens: 20,
      cost: 0.02,
      outcome: null,
    });
    expect(bars(trace.steps[1]!)).toEqual([
      ['model', 0, 500, 'ok'],
      ['delete_lead', 500, 0, 'waiting'],
    ]);
    expect(trace.steps[1]!.bars[1]).toMatchObject({ pausedMs: 60_000, answer: null });
    expect(trace.pauses).toMatchObject([{ at: 1_500, step: 2, durationMs: null }]);
    expect(trace.totals).toMatchObject({ seconds: { used: 1.5 }, pausedMs: 60_000 });
    expect(trace.stop).toMatchObject({ because: 'delete_lead needs approval', action: null });
  });

  it('shows a pause without a log', () => {
    const waiting = { callId: 'b', tool: 'delete_lead', args: {}, path: [] };
    const pause = { kind: 'approval' as const, at: iso(1_500) };
    const trace = traced({
      session: session({ status: 'paused', pause, pendingApprovals: [waiting] }),
      now: T0 + 9_000,
    });
    expect(trace.steps).toMatchObject([{ number: 1, type: 'waiting' }]);
    expect(trace.steps[0]!.bars[1]).toMatchObject({ name: 'delete_lead', state: 'waiting' });
    expect(trace.pauses).toMatchObject([{ durationMs: null, kind: 'approval' }]);
  });

  it('marks a grant after an end, but not an end without a grant', () => {
    const ended = new Log().started(0, 1).done(100, 1).at(100, 'AgentFinished', {
      stopReason: 'steps_limit',
      stepCount: 1,
      outcome: null,
    });
    expect(traced({ steps: [step(1, 0, 100)], events: ended.events }).pauses).toEqual([]);
    const granted = ended.resumed(5_100, 1).started(5_100, 2).done(5_200, 2);
    const trace = traced({ steps: [step(1, 0, 100), step(2, 5_100, 100)], events: granted.events });
    expect(trace.pauses).toEqual([
      { at: 100, step: 1, durationMs: 5_000, kind: 'grant', reason: 'steps_limit' },
    ]);
    expect(trace.steps[1]?.at).toBe(100);
  });
});

describe('the current step', () => {
  const working = session({ status: 'in_progress' });

  it('runs: the model has no answer yet', () => {
    const trace = traced({
      session: working,
      events: new Log().started(0, 1).events,
      now: T0 + 700,
    });
    expect(trace).toMatchObject({ status: 'processing', stop: null, outcome: null });
    expect(bars(trace.steps[0]!)).toEqual([['model', 0, 700, 'running']]);
    expect(trace.totals.seconds.used).toBe(0.7);
  });

  it('runs: one tool is done, one failed, one is retried', () => {
    const before = step(1, 0, 100, {
      toolCalls: [call('z', 'enrich')],
      results: [failure('z', 5, 'enrich')],
    });
    const log = new Log()
      .started(100, 2)
      .callStarted(150, 'a', 'search')
      .callStarted(150, 'b', 'mail')
      .callStarted(150, 'c', 'enrich')
      .callDone(170, 'a', 'search', 20)
      .callDone(180, 'b', 'mail', 30, 'no such address');
    const trace = traced({ session: working, steps: [before], events: log.events, now: T0 + 400 });
    expect(bars(trace.steps[1]!)).toEqual([
      ['model', 0, 50, 'ok'],
      ['search', 50, 20, 'ok'],
      ['mail', 50, 30, 'error'],
      ['enrich', 50, 250, 'running'],
    ]);
    expect(trace.steps[1]!.bars[2]?.error).toBe('no such address');
    expect(trace.steps[1]!.bars[3]?.retry).toEqual({ number: 1, limit: null });
  });

  it('does not exist between two steps', () => {
    const log = new Log().started(0, 1).done(100, 1);
    const trace = traced({ session: working, steps: [step(1, 0, 100)], events: log.events });
    expect(trace.steps).toMatchObject([{ number: 1, type: 'final' }]);
  });

  it('does not exist after the end of a run, even with an incomplete log', () => {
    expect(traced({ events: new Log().started(0, 1).events }).steps).toEqual([]);
  });
});
