import { AgentBuilder, ErrorPolicy } from 'onward';
import type { DeterministicDriver, MockTool } from 'onward/testing';
import type { PrepareStep } from '../../src/agent/prepare-step.ts';

/** The tools that each request offered. */
export const namesIn = ({ requests }: DeterministicDriver): string[][] =>
  requests.map(({ tools }) => tools.map(({ name }) => name));

/** An agent with these tools, which ignores their errors. */
export const agentOf = (
  model: DeterministicDriver,
  tools: readonly MockTool[],
  prepareStep?: PrepareStep,
): AgentBuilder => {
  const builder: AgentBuilder = AgentBuilder.base()
    .withModel(model)
    .withSystemPrompt('Be kind.')
    .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
    .withTools(...tools);
  return prepareStep ? builder.withPrepareStep(prepareStep) : builder;
};
