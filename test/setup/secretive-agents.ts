import { AgentBuilder, ErrorPolicy, type Agent, type Tool } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { byLook, ours, planted, redactor } from './canary.ts';
import { builderWith, followingDriver } from './sessions.ts';

const { toolCall, final } = ScenarioStep;

/** An agent with the redactor for the planted secrets and immediate retries. */
export const secretiveAgent = (steps: readonly ScenarioStep[], ...tools: readonly Tool[]): Agent =>
  builderWith(followingDriver(steps), ...tools)
    .withRedactor(redactor)
    .withErrorPolicy(ErrorPolicy.retryAll().withBackoff({ initialMs: 1, maxMs: 1 }))
    .build();

/** An agent whose nested agent has secrets in arguments, results and its answer. */
export function secretiveParent(): Agent {
  const inner = AgentBuilder.base()
    .withName('inner')
    .withDriver(followingDriver([toolCall('vault', planted), final(`done with ${byLook}`)]))
    .withTools(mockTool('vault', planted))
    .build()
    .asTool({ name: 'ask', description: 'Asks.' });
  return secretiveAgent([toolCall('ask', { input: ours }), final('Ok.')], inner);
}
