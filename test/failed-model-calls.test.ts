import { AgentBuilder, ErrorPolicy, type AgentEvent } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { at, limited, policyEvaluation, roles, setUp } from './setup/error-policy.ts';

const { toolCall, final, error, stream } = ScenarioStep;

describe('a failed model call', () => {
  it.each([0, 1, 2, 5])('D58: is sent 1 + maxRetries times with maxRetries %d', async (max) => {
    for (const before of [[], [toolCall('ok')]]) {
      const script = [...before, ...Array<ScenarioStep>(20).fill(limited())];
      const { builder, driver } = setUp(script, at(ErrorPolicy.retryAll(max)));
      const state = await builder.build().run('go');
      expect(driver.requests.length - before.length).toBe(1 + max);
      expect(state.stopReason).toBe('retry_limit');
    }
  });

  it('D58: has all its retries, even if a tool failed in the step before', async () => {
    const { builder, driver } = setUp(
      [toolCall('breaks'), limited(), limited(), limited()],
      at(ErrorPolicy.retryAll(2)),
    );
    await builder.build().run('go');
    expect(driver.requests.length - 1).toBe(3);
  });

  it('is its own step, retried with the same messages', async () => {
    const { builder, driver } = setUp(
      [toolCall('ok'), limited(), limited(), final('done')],
      at(ErrorPolicy.retryAll()),
    );
    const state = await builder.build().run('go');
    expect([...state.steps].map((s) => [s.number, s.type, s.attempt])).toEqual([
      [1, 'tool_calls', 1],
      [2, 'error', 1],
      [3, 'error', 2],
      [4, 'final', 3],
    ]);
    expect(driver.requests.map((r) => r.messageCount)).toEqual([1, 3, 3, 3]);
    expect(roles(state)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  it('cannot be ignored: ignore means retry, with the same limit', async () => {
    const policy = at(ErrorPolicy.retryAll(2).withHandling('rate_limit', 'ignore'));
    const { builder, driver } = setUp(Array(9).fill(limited()), policy);
    const state = await builder.build().run('go');
    expect(driver.requests.length).toBe(3);
    expect(policyEvaluation(state.steps.at(0))).toMatchObject({
      decision: 'allow',
      reason: 'rate limit error, retrying (1/2)',
      context: { handling: 'retry' },
    });
    expect(state.stopReason).toBe('retry_limit');
  });

  it('D55: in mid-stream discards the streamed text and does not rerun finished tools', async () => {
    const search = mockTool('search', 'found');
    const driver = DeterministicDriver.fromSteps(
      toolCall('search'),
      error({ type: 'timeout', message: 'reset' }, { chunks: ['The ans', 'wer is'] }),
      stream(['The answer ', 'is 42.']),
    );
    const events: AgentEvent[] = [];
    const state = await AgentBuilder.base()
      .withDriver(driver)
      .withTools(search)
      .withErrorPolicy(at(ErrorPolicy.retryToolErrors(3)))
      .build()
      .run('go', { wiretap: (e) => events.push(e) });
    expect(search.calls.length).toBe(1);
    expect(state.output).toBe('The answer is 42.');
    expect(state.messages.length).toBe(4);
    const ofStep2 = events.filter((e) => 'stepNumber' in e && e.stepNumber === 2);
    expect(ofStep2.map((e) => e.type)).toEqual([
      'AgentStepStarted',
      'StreamChunk',
      'StreamChunk',
      'StepFailed',
      'StreamDiscarded',
      'ContinuationEvaluated',
    ]);
  });

  it('stops at once on a refusal and stores its text once', async () => {
    const { builder, driver } = setUp([final('', { refusal: 'I cannot help with that.' })]);
    const state = await builder.build().run('go');
    expect(driver.requests.length).toBe(1);
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(state.steps.at(0)?.errors).toMatchObject([
      { type: 'model', code: 'refusal', retryable: false },
    ]);
    expect(state.messages.toJSON().map((m) => [m.role, m.content])).toEqual([
      ['user', 'go'],
      ['assistant', 'I cannot help with that.'],
    ]);
  });
});
