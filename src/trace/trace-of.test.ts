import { describe, expect, it } from 'vitest';
import {
  accounts,
  call,
  failure,
  iso,
  Log,
  records,
  result,
  session,
  step,
  T0,
  verdict,
} from '../../test/trace/records.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import { traceOf, type TraceRecords } from './trace-of.ts';
import type { Trace, TraceStep } from './trace.ts';

/** Bars in short: name, place in the step, length, state. */
const bars = ({ at, bars: all }: TraceStep): unknown[] =>
  all.map((bar) => [bar.name, bar.at - at, bar.durationMs, bar.state]);

/** Steps follow each other, and no bar leaves its step. */
function isSound(trace: Trace): Trace {
  let end = 0;
  for (const { at, durationMs, waitMs, bars: all } of trace.steps) {
    expect(at).toBeGreaterThanOrEqual(end - 0.001);
    for (const bar of all) {
      expect(bar.at).toBeGreaterThanOrEqual(at);
      expect(bar.durationMs).toBeGreaterThanOrEqual(0);
      expect(bar.at + bar.durationMs).toBeLessThanOrEqual(at + durationMs + 0.001);
    }
    end = at + durationMs + waitMs;
  }
  return trace;
}

const traced = (more: Partial<TraceRecords>): Trace => isSound(traceOf(records(more)));

describe('the bars of a step', () => {
  it('the model until the first tool starts, then one bar per call in call order', () => {
    const log = new Log()
      .started(0, 1)
      .callStarted(400, 'a', 'search')
      .callStarted(410, 'b', 'enrich')
      .callDone(500, 'a', 'search', 100)
      .callDone(900, 'b', 'enrich', 490)
      .done(1000, 1);
    const toolCalls = [call('b', 'enrich'), call('a', 'search')];
    const results = [result('b', 490), result('a', 100)];
    const trace = traced({
      steps: [step(1, 0, 1000, { toolCalls, results }), step(2, 1000, 300)],
      events: log.events,
    });
    expect(bars(trace.steps[0]!)).toEqual([
      ['model', 0, 400, 'ok'],
      ['enrich', 410, 490, 'ok'],
      ['search', 400, 100, 'ok'],
    ]);
    expect(bars(trace.steps[1]!)).toEqual([['model', 0, 300, 'ok']]);
    // side by side counts once
    expect(trace.totals).toMatchObject({ modelMs: 700, toolMs: 500, seconds: { used: 1.3 } });
  });

  it('without the log: the model is what the longest tool leaves', () => {
    const toolCalls = [call('a', 'search'), call('b', 'enrich')];
    const results = [result('a', 100), result('b', 490)];
    const trace = traced({ steps: [step(1, 0, 1000, { toolCalls, results })] });
    expect(bars(trace.steps[0]!)).toEqual([
      ['model', 0, 510, 'ok'],
      ['search', 510, 100, 'ok'],
      ['enrich', 510, 490, 'ok'],
    ]);
  });

  it('a log that names a call twice, before and after a crash, shows the one that counted', () => {
    const log = new Log()
      .at(0, 'AgentStarted', { resumed: false, stepCount: 0 })
      .started(0, 1)
      .callStarted(200, 'a', 'search')
      .resumed(60_200, 0)
      .callStarted(60_250, 'a', 'search')
      .callDone(60_400, 'a', 'search', 150);
    const toolCalls = [call('a', 'search')];
    const trace = traced({
      steps: [step(1, 0, 400, { toolCalls, results: [result('a', 150)] })],
      events: log.events,
    });
    expect(bars(trace.steps[0]!)).toEqual([
      ['model', 0, 200, 'ok'],
      ['search', 250, 150, 'ok'],
    ]);
    expect(trace.pauses).toEqual([
      { at: 200, step: 1, durationMs: 60_000, kind: 'crash', reason: null },
    ]);
    // nobody was waited for
    expect(trace.totals.pausedMs).toBe(0);
  });

  it('a process that died in the model call: the step is drawn as it was made again', () => {
    const log = new Log()
      .at(0, 'AgentStarted', { resumed: false, stepCount: 0 })
      .started(5, 1)
      .resumed(90_000, 0)
      .started(90_010, 1)
      .done(90_510, 1);
    const trace = traced({ steps: [step(1, 90_010, 500)], events: log.events });
    expect(trace.steps[0]).toMatchObject({ at: 0, durationMs: 500 });
    expect(trace.pauses).toMatchObject([{ kind: 'crash', at: 0, step: 1 }]);
  });

  it('keeps the length of a call that a slow start of the process has pushed to the end', () => {
    const log = new Log()
      .started(0, 1)
      .at(100, 'ToolApprovalRequested', { toolCallId: 'a', tool: 'mail', args: {} })
      .paused(100, 0, ['a', 'mail'])
      .resumed(5_000, 0)
      .callStarted(5_040, 'a', 'mail')
      .callDone(5_070, 'a', 'mail', 30);
    const trace = traced({
      steps: [step(1, 0, 130, { toolCalls: [call('a', 'mail')], results: [result('a', 30)] })],
      events: log.events,
    });
    expect(bars(trace.steps[0]!)).toEqual([
      ['model', 0, 100, 'ok'],
      ['mail', 100, 30, 'ok'],
    ]);
  });

  it('agents behind a call are no steps of the run', () => {
    const log = new Log()
      .started(0, 1)
      .callStarted(100, 'a', 'research')
      .inside((child) =>
        child
          .at(110, 'AgentStarted', { resumed: false, stepCount: 0 })
          .started(110, 1)
          .callStarted(200, 'x', 'search')
          .callDone(300, 'x', 'search', 100)
          .started(310, 2)
          .at(390, 'AgentFinished', { stopReason: 'completed', stepCount: 2 }),
      )
      .callDone(400, 'a', 'research', 300);
    const trace = traced({
      session: session({ status: 'in_progress' }),
      events: log.events,
      now: T0 + 500,
    });
    expect(trace.steps).toMatchObject([{ number: 1, type: 'running', durationMs: 500 }]);
    expect(bars(trace.steps[0]!)).toEqual([
      ['model', 0, 100, 'ok'],
      ['research', 100, 300, 'ok'],
    ]);
    expect(trace.pauses).toEqual([]);
  });

  it('a failed and a cut model call', () => {
    const error = { type: 'timeout', code: 'x', message: 'too slow', retryable: true, at: iso(0) };
    const trace = traced({
      steps: [
        step(1, 0, 100, { type: 'error', errors: [error as never], finishReason: null }),
        step(2, 100, 50, { type: 'cut', finishReason: null }),
      ],
    });
    expect(trace.steps.map((s) => s.bars)).toMatchObject([
      [{ state: 'timeout', error: 'too slow' }],
      [{ state: 'aborted', error: null }],
    ]);
    expect(trace.totals).toMatchObject({ failedCalls: 1, steps: { used: 0 } });
  });
});

describe('retries and waits', () => {
  const policy = (consecutiveFailures: number) =>
    verdict({
      criterion: 'ErrorPolicyCriterion',
      decision: 'request',
      context: { consecutiveFailures, maxRetries: 3, handling: 'retry' },
    });

  it('a call of the tool that failed before is a retry, and retries are counted on', () => {
    const tries = ['a', 'b', 'c'].map((id, i) =>
      step(i + 1, i * 100, 100, {
        toolCalls: [call(id, 'enrich', { domain: 'x.de' }), call(`${id}2`, 'search')],
        results: [id === 'c' ? result(id, 10) : failure(id, 10, 'enrich'), result(`${id}2`, 5)],
        outcome: policy(i + 1),
      }),
    );
    const trace = traced({ steps: tries });
    const retries = trace.steps.map((s) => s.bars.map(({ retry }) => retry));
    expect(retries).toEqual([
      [null, null, null],
      [null, { number: 1, limit: 3 }, null],
      [null, { number: 2, limit: 3 }, null],
    ]);
    // the first of a page knows what was before it
    const paged = traceOf(records({ steps: tries.slice(2), stepsBefore: tries.slice(0, 2) }));
    expect(paged.steps[0]?.bars[1]?.retry).toEqual({ number: 2, limit: 3 });
    expect(paged.hasEarlier).toBe(true);
  });

  it('of two calls the one with the same arguments is the retry, also over a failed model call', () => {
    const trace = traced({
      steps: [
        step(1, 0, 100, {
          toolCalls: [call('a', 'enrich', { domain: 'x.de' })],
          results: [failure('a', 10, 'enrich')],
        }),
        step(2, 100, 10, { type: 'error' }),
        step(3, 110, 100, {
          toolCalls: [
            call('b', 'enrich', { domain: 'y.de' }),
            call('c', 'enrich', { domain: 'x.de' }),
          ],
          results: [result('b', 1), result('c', 1)],
        }),
      ],
    });
    expect(trace.steps[2]!.bars.map(({ retry }) => retry)).toEqual([
      null,
      null,
      { number: 1, limit: null },
    ]);
  });

  it('a failed model call waits on the axis, as long as it really did', () => {
    const failed = step(1, 0, 200, { type: 'error', waitMs: 1_000, finishReason: null });
    const trace = traced({ steps: [failed, step(2, 1_150, 300, { attempt: 2, waitedMs: 950 })] });
    expect(trace.steps).toMatchObject([
      { at: 0, waitMs: 950 },
      { at: 1_150, durationMs: 300, attempt: 2 },
    ]);
    expect(trace.totals).toMatchObject({ backoffMs: 950, seconds: { used: 1.45 } });
    // while it waits, the wait is as long as planned; one that was never taken takes nothing
    const working = session({ status: 'in_progress' });
    expect(traced({ session: working, steps: [failed] }).steps[0]?.waitMs).toBe(1_000);
    expect(traced({ steps: [failed] }).steps[0]?.waitMs).toBe(0);
    expect(traced({ steps: [failed, step(2, 900, 1)] }).steps[0]?.waitMs).toBe(0);
  });
});

describe('people', () => {
  const HOURS_14 = 14 * 3_600_000;

  it('an approval over night takes nothing of the axis', () => {
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

  it('tells what was denied and what was edited, from the step alone too', () => {
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

  it('a step that waits is the last one, and its pause lasts', () => {
    const log = new Log()
      .started(1_000, 2)
      .at(1_500, 'ToolApprovalRequested', { toolCallId: 'b', tool: 'delete_lead', args: {} })
      .paused(1_500, 1, ['b', 'delete_lead']);
    const waiting = { callId: 'b', tool: 'delete_lead', args: {}, path: [] };
    const pause = { kind: 'approval', at: iso(1_500) };
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
    expect(trace.stop).toMatchObject({ because: 'delete_lead needs your approval', action: null });
  });

  it('waits without a log too', () => {
    const waiting = { callId: 'b', tool: 'delete_lead', args: {}, path: [] };
    const pause = { kind: 'approval', at: iso(1_500) };
    const trace = traced({
      session: session({ status: 'paused', pause, pendingApprovals: [waiting] }),
      now: T0 + 9_000,
    });
    expect(trace.steps).toMatchObject([{ number: 1, type: 'waiting' }]);
    expect(trace.steps[0]!.bars[1]).toMatchObject({ name: 'delete_lead', state: 'waiting' });
    expect(trace.pauses).toMatchObject([{ durationMs: null, kind: 'approval' }]);
  });

  it('a grant after an end is a mark, and an end that stays is none', () => {
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

describe('the step in work', () => {
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

  it('runs: one tool is done, one failed, one is at it again', () => {
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

  it('is not there between two steps', () => {
    const log = new Log().started(0, 1).done(100, 1);
    const trace = traced({ session: working, steps: [step(1, 0, 100)], events: log.events });
    expect(trace.steps).toMatchObject([{ number: 1, type: 'final' }]);
  });

  it('is not there when the run is over, whatever the log lacks', () => {
    expect(traced({ events: new Log().started(0, 1).events }).steps).toEqual([]);
  });
});

describe('totals and the verdict', () => {
  const spent = ContinuationOutcome.from(
    verdict(
      {
        criterion: 'StepsLimit',
        decision: 'forbid',
        reason: 'spent',
        stopReason: 'steps_limit',
        context: { used: 2, limit: 2 },
        remedy: { text: 'more', grant: { steps: 2 } },
      },
      { criterion: 'TokenUsageLimit', decision: 'allow', context: { used: 220, limit: 5_000 } },
      { criterion: 'CostLimit', decision: 'allow', context: { used: 0.02, limit: 0.5 } },
      { criterion: 'ExecutionTimeLimit', decision: 'allow', context: { used: 0.4, limit: 60 } },
      { decision: 'stop', reason: 'the answer asks for no tools' },
    ),
  );

  it('limits come from the voices; what no voice limits has none', () => {
    const trace = traced({
      session: session({ status: 'stopped', stopReason: 'steps_limit', outcome: spent }),
      steps: [step(1, 0, 200), step(2, 200, 200, { softLanding: 'StepsLimit' })],
    });
    expect(trace.totals).toMatchObject({
      steps: { used: 2, limit: 2 },
      seconds: { used: 0.4, limit: 60 },
      tokens: { used: 220, limit: 5_000 },
      cost: { used: 0.02, limit: 0.5 },
      inputTokens: 200,
      outputTokens: 20,
    });
    expect(trace.steps.map(({ costSoFar }) => costSoFar)).toEqual([0.01, 0.02]);
    expect(trace.steps[1]?.softLanding).toBe('StepsLimit');
    expect(trace.stop).toMatchObject({
      because: 'it used all 2 of its 2 steps',
      note: 'It answered with what it had.',
      action: { kind: 'grant', grant: { steps: 2 }, label: 'Grant 2 steps' },
    });
    const free = traced({ steps: [step(1, 0, 200)] }).totals;
    expect([free.steps.limit, free.seconds.limit, free.tokens.limit, free.cost.limit]).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });

  it('a wall clock that began anew limits no working time', () => {
    const trace = traced({
      session: session({ status: 'stopped', stopReason: 'steps_limit', outcome: spent }),
      steps: [step(1, 0, 200)],
      accounts: accounts({ cumulativeSeconds: 30 }),
    });
    expect(trace.totals.seconds).toEqual({ used: 30, limit: null });
  });

  it('a page in the middle begins where the accounts before it end', () => {
    const trace = traced({
      steps: [step(41, 90_000, 500), step(42, 90_500, 500)],
      stepAfter: step(43, 91_000, 1),
      newestStep: step(60, 99_000, 1, { outcome: spent.toJSON() }),
      accounts: accounts({ stepCount: 60, answeredSteps: 58, cumulativeSeconds: 30 }),
      accountsBefore: accounts({ stepCount: 40, cumulativeSeconds: 20, cost: 0.4 }),
    });
    expect(trace.steps.map(({ at }) => at)).toEqual([20_000, 20_500]);
    expect(trace.steps[0]?.costSoFar).toBeCloseTo(0.41);
    expect(trace).toMatchObject({
      hasEarlier: true,
      outcome: { stopReason: 'steps_limit' },
      totals: { seconds: { used: 30 }, steps: { used: 58 }, failedCalls: 2 },
    });
  });

  it('an older execution is told by its own last verdict', () => {
    const trace = traced({
      session: session({ status: 'in_progress', executionId: 'e2' }),
      steps: [step(1, 0, 100, { outcome: spent.toJSON() })],
      events: new Log().started(200, 2).events,
    });
    expect(trace).toMatchObject({ status: 'stopped', outcome: { stopReason: 'steps_limit' } });
    expect(trace.steps).toHaveLength(1);
  });

  it('a verdict before any step stands alone', () => {
    const trace = traced({
      session: session({ status: 'stopped', stopReason: 'steps_limit', outcome: spent }),
    });
    expect(trace).toMatchObject({ steps: [], outcome: { stopReason: 'steps_limit' } });
    expect(trace.stop?.lead).toBe('Stopped because');
  });

  it('a session that nobody wrote to has nothing to tell', () => {
    const fresh = session({ status: 'pending', executionId: null });
    expect(traced({ session: fresh, executionId: null })).toMatchObject({
      executionId: null,
      status: 'idle',
      steps: [],
      stop: null,
      startedAt: null,
      hasEarlier: false,
    });
  });
});
