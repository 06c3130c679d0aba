import { ErrorPolicy } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { policyEvaluation, roles, setUp } from './setup/error-policy.ts';

const { final } = ScenarioStep;

describe('an answer that does not match the response format', () => {
  const schema = z.object({ total: z.number() });
  const setUpFormat = (script: readonly ScenarioStep[], policy: ErrorPolicy) => {
    const made = setUp(script, policy);
    return { ...made, builder: made.builder.withResponseFormat(schema) };
  };

  it('counts as a step with a validation error, and the model tries again at once with an explanation', async () => {
    const { builder } = setUpFormat(
      [final('Three.'), final('{"total": 3}')],
      ErrorPolicy.retryToolErrors(3),
    );
    const state = await builder.build().run('go');
    expect(state).toMatchObject({ stopReason: 'completed', output: { total: 3 } });
    const [first] = [...state.steps];
    expect(first).toMatchObject({ type: 'final', attempt: 1 });
    expect(first?.errors).toMatchObject([{ type: 'validation', code: 'response_format_mismatch' }]);
    expect(first).not.toHaveProperty('waitMs');
    expect(policyEvaluation(first)).toMatchObject({
      decision: 'allow',
      reason: 'validation error, retrying (1/3)',
    });
    expect(state.execution).toMatchObject({ answeredSteps: 2, totalFailures: 1 });
    expect(roles(state)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(state.messages.at(2)).toMatchObject({ metadata: { synthetic: true } });
    expect(state.messages.at(2)?.text).toMatch(/^The answer does not match the response format: /);
  });

  it('names the wrong field to the model', async () => {
    const { builder } = setUpFormat(
      [final('{"total": "three"}'), final('{"total": 3}')],
      ErrorPolicy.retryToolErrors(3),
    );
    const state = await builder.build().run('go');
    expect(state.messages.at(2)?.text).toContain('total');
  });

  it('is retried under an ignore policy, with the same limit', async () => {
    const { builder, driver } = setUpFormat(
      Array(9).fill(final('Three.')),
      ErrorPolicy.ignoreToolErrors().withMaxRetries(2),
    );
    const state = await builder.build().run('go');
    expect(driver.requests.length).toBe(3);
    expect(state).toMatchObject({
      status: 'failed',
      stopReason: 'retry_limit',
      output: null,
      outputText: 'Three.',
    });
  });

  it('stops the run under the default policy', async () => {
    const { builder } = setUpFormat([final('Three.')], ErrorPolicy.stopOnAnyError());
    expect(await builder.build().run('go')).toMatchObject({
      status: 'failed',
      stopReason: 'error',
    });
  });

  it('counts toward StepsLimit', async () => {
    const { builder, driver } = setUpFormat(
      [final('Three.'), final('Four.')],
      ErrorPolicy.retryAll(),
    );
    const state = await builder.withMaxSteps(2).build().run('go');
    expect(driver.requests.length).toBe(2);
    expect(state.stopReason).toBe('steps_limit');
  });
});
