import { describe, expect, it } from 'vitest';
import {
  call,
  failure,
  iso,
  Log,
  records,
  result,
  session,
  step,
  T0,
  outcomeWith,
} from '../../test/trace/records.ts';
import { bars, traced } from '../../test/trace/traced.ts';
import { traceOf } from './trace-of.ts';

describe('the bars of a step', () => {
  it('are the model until the first tool starts, then one bar per call in call order', () => {
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
    // concurrent calls count once
    expect(trace.totals).toMatchObject({ modelMs: 700, toolMs: 500, seconds: { used: 1.3 } });
  });

  it('without the log, give the model the time that the longest tool leaves', () => {
    const toolCalls = [call('a', 'search'), call('b', 'enrich')];
    const results = [result('a', 100), result('b', 490)];
    const trace = traced({ steps: [step(1, 0, 1000, { toolCalls, results })] });
    expect(bars(trace.steps[0]!)).toEqual([
      ['model', 0, 510, 'ok'],
      ['search', 510, 100, 'ok'],
      ['enrich', 510, 490, 'ok'],
    ]);
  });

  it('use the recorded call if a crash repeats it in the log', () => {
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
    // no approval was needed
    expect(trace.totals.pausedMs).toBe(0);
  });

  it('show the repeated step if a process died in the model call', () => {
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

  it('keep the duration of a call after a slow start of the process', () => {
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

  it('ignore steps of nested agents', () => {
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

  it('show a failed and an interrupted model call', () => {
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
    outcomeWith({
      criterion: 'ErrorPolicyCriterion',
      decision: 'request',
      context: { consecutiveFailures, maxRetries: 3, handling: 'retry' },
    });

  it('a call of a tool that failed before is a retry, and retries are counted across steps', () => {
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
    // the first step of a page uses the steps before it
    const paged = traceOf(records({ steps: tries.slice(2), stepsBefore: tries.slice(0, 2) }));
    expect(paged.steps[0]?.bars[1]?.retry).toEqual({ number: 2, limit: 3 });
    expect(paged.hasEarlier).toBe(true);
  });

  it('the call with the same arguments is the retry, also across a failed model call', () => {
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

  it('a failed model call has its real wait on the axis', () => {
    const failed = step(1, 0, 200, { type: 'error', waitMs: 1_000, finishReason: null });
    const trace = traced({ steps: [failed, step(2, 1_150, 300, { attempt: 2, waitedMs: 950 })] });
    expect(trace.steps).toMatchObject([
      { at: 0, waitMs: 950 },
      { at: 1_150, durationMs: 300, attempt: 2 },
    ]);
    expect(trace.totals).toMatchObject({ backoffMs: 950, seconds: { used: 1.45 } });
    // during a wait, its planned length counts; a wait that never happened counts as 0
    const working = session({ status: 'in_progress' });
    expect(traced({ session: working, steps: [failed] }).steps[0]?.waitMs).toBe(1_000);
    expect(traced({ steps: [failed] }).steps[0]?.waitMs).toBe(0);
    expect(traced({ steps: [failed, step(2, 900, 1)] }).steps[0]?.waitMs).toBe(0);
  });
});
