import {
  AgentBuilder,
  ErrorPolicy,
  type AgentState,
  type AgentStep,
  type ContinuationEvaluation,
} from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import * as z from 'zod';
import type { Setting } from './scripts.ts';

export const at = (policy: ErrorPolicy): ErrorPolicy => policy.withBackoff({ initialMs: 0 });
export const limited = (more: object = {}): ScenarioStep =>
  ScenarioStep.error({ type: 'rate_limit', message: '429', ...more });

export function setUp(
  script: readonly ScenarioStep[],
  policy: ErrorPolicy = ErrorPolicy.retryAll(),
): Setting {
  const clock = fakeClock();
  const driver = DeterministicDriver.create(script, { clock });
  const builder = AgentBuilder.base()
    .withDriver(driver)
    .withTools(
      mockTool('ok', 'fine'),
      mockTool('breaks', new Error('the index is offline')),
      mockTool('strict', 'fine', { parameters: z.object({ page: z.number() }) }),
      mockTool('slow', () => new Promise(() => {}), { timeoutMs: 1_000 }),
    )
    .withClock(clock)
    .withErrorPolicy(policy);
  return { clock, driver, builder };
}

export const policyEvaluation = (step: AgentStep | undefined): ContinuationEvaluation | undefined =>
  step?.outcome?.evaluationFor('ErrorPolicyCriterion');

export const roles = (state: AgentState): string[] => state.messages.toJSON().map((m) => m.role);
