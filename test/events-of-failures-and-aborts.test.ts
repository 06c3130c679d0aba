import { ErrorPolicy, type AgentEvent } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { at, builder, listen, own, types, answerIn } from './setup/events.ts';

describe('events of failures and aborts', () => {
  it('D55, D56: a failed model call that streamed text, then the retry', async () => {
    const clock = fakeClock(at);
    const agent = builder(
      DeterministicDriver.fromSteps(
        ScenarioStep.error(
          { type: 'rate_limit', message: 'slow down', retryAfterMs: 2000 },
          {
            chunks: ['Let me', ' see'],
          },
        ),
        ScenarioStep.stream(['All ', 'good.']),
      ),
    )
      .withClock(clock)
      .withErrorPolicy(ErrorPolicy.retryAll())
      .build();
    const events: AgentEvent[] = [];
    const running = agent.run('go', { wiretap: (event) => events.push(event) });
    await clock.advance(2000);
    const state = await running;
    expect(state.output).toBe('All good.');
    expect(types(events)).toEqual([
      'AgentStarted',
      'MessageAdded',
      'ContinuationEvaluated',
      'AgentStepStarted',
      'StreamChunk',
      'StreamChunk',
      'StepFailed',
      'StreamDiscarded',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      ...answerIn(2),
    ]);
    expect(events.slice(6, 10).map(own)).toEqual([
      {
        type: 'StepFailed',
        index: 4,
        stepNumber: 1,
        attempt: 1,
        waitMs: 2000,
        modelCall: { firstTokenMs: 0 },
        error: {
          type: 'rate_limit',
          code: 'scripted',
          message: 'slow down',
          retryable: true,
          retryAfterMs: 2000,
          at,
        },
      },
      { type: 'StreamDiscarded', index: 5, stepNumber: 1, attempt: 1 },
      {
        type: 'ContinuationEvaluated',
        index: 6,
        stepNumber: 1,
        outcome: state.steps.at(0)!.outcome,
      },
      { type: 'AgentStateUpdated', index: 7, status: 'in_progress', stepCount: 1 },
    ]);
    const chunks = events.flatMap((e) => (e.type === 'StreamChunk' ? [e] : []));
    expect(
      chunks.map(({ stepNumber, attempt, index, content }) => [
        stepNumber,
        attempt,
        index,
        content,
      ]),
    ).toEqual([
      [1, 1, 0, 'Let me'],
      [1, 1, 1, ' see'],
      [2, 2, 0, 'All '],
      [2, 2, 1, 'good.'],
    ]);
    expect(new Set(chunks.map(({ messageId }) => messageId)).size).toBe(2);
  });

  it('a failed model call without streamed text discards nothing, and the last failure ends the run', async () => {
    const agent = builder(DeterministicDriver.fromSteps(ScenarioStep.error('broken'))).build();
    const { events, state } = await listen(agent, (wiretap) => agent.run('go', { wiretap }));
    expect(types(events).slice(3)).toEqual([
      'AgentStepStarted',
      'StepFailed',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentFailed',
    ]);
    expect(own(events.at(-1)!)).toEqual({
      type: 'AgentFailed',
      index: 7,
      status: 'failed',
      previousStatus: 'in_progress',
      stopReason: 'error',
      stepCount: 1,
      usage: { input: 0, output: 0, total: 0, cachedInput: 0, reasoning: 0 },
      cost: null,
      outcome: state.lastContinuationOutcome,
      outputText: '',
      error: { type: 'model', code: 'scripted', message: 'broken', retryable: true, at },
    });
  });

  it('D45: an abort in the middle of an answer keeps the streamed text', async () => {
    const stop = new AbortController();
    const agent = builder(
      DeterministicDriver.create([
        { ...ScenarioStep.stream(['One ', 'two ']), extras: { hangs: true } },
      ]),
    ).build();
    const { events, state } = await listen(agent, (wiretap) =>
      agent.run('go', {
        signal: stop.signal,
        wiretap: (event) => {
          wiretap(event);
          if (event.type === 'StreamChunk' && event.index === 1) stop.abort('enough');
        },
      }),
    );
    expect(types(events).slice(3)).toEqual([...answerIn(2)]);
    expect(events.find((e) => e.type === 'AgentStepCompleted')).toMatchObject({
      finishReason: null,
      hasToolCalls: false,
      errorCount: 0,
    });
    expect(events.at(-1)).toMatchObject({
      status: 'stopped',
      stopReason: 'user_requested',
      outputText: 'One two ',
    });
    const { id: messageId } = state.messages.at(1)!;
    expect(state.messages.at(1)).toMatchObject({ content: 'One two ' });
    expect(events[6]).toMatchObject({ messageId, role: 'assistant', content: 'One two ' });
  });

  it('an abort before the first step emits one outcome and one final event', async () => {
    const agent = builder(DeterministicDriver.fromResponses()).build();
    const { events } = await listen(agent, (wiretap) =>
      agent.run('go', { signal: AbortSignal.abort(), wiretap }),
    );
    expect(types(events)).toEqual([
      'AgentStarted',
      'MessageAdded',
      'ContinuationEvaluated',
      'AgentFinished',
    ]);
    expect(events[2]).toMatchObject({ stepNumber: 0, outcome: { stopReason: 'user_requested' } });
  });

  it('an abort during a tool closes its call before the step is reported', async () => {
    const stop = new AbortController();
    const agent = builder(DeterministicDriver.fromSteps(ScenarioStep.toolCall('wait')))
      .withTools(
        mockTool('wait', () => {
          stop.abort();
          return new Promise(() => {});
        }),
      )
      .build();
    const { events } = await listen(agent, (wiretap) =>
      agent.run('go', { signal: stop.signal, wiretap }),
    );
    expect(types(events).slice(-7)).toEqual([
      'ToolCallStarted',
      'ToolCallCompleted',
      'TokenUsageReported',
      'AgentStepCompleted',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentFinished',
    ]);
    expect(events.at(-6)).toMatchObject({ success: false, error: 'aborted' });
  });
});
