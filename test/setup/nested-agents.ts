import {
  AgentBuilder,
  ErrorPolicy,
  type Agent,
  type AgentState,
  type Tool,
  type ToolResult,
} from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';

const { toolCall, final } = ScenarioStep;

export const ask = { input: 'please' };

export const builder = (
  name: string,
  steps: readonly ScenarioStep[],
  ...tools: readonly Tool[]
): AgentBuilder =>
  AgentBuilder.base()
    .withName(name)
    .withDriver(DeterministicDriver.fromSteps(...steps))
    .withTools(...tools);

export const asTool = (agent: Agent, name = 'help'): Tool =>
  agent.asTool({ name, description: 'Helps with a task.' });

/** A root that calls `child` once, then answers. */
export const rootOf = (child: Agent): Agent =>
  builder('root', [toolCall('help', ask), final('done')], asTool(child))
    .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
    .build();

export function firstResult(state: AgentState): ToolResult {
  const result = state.steps.at(0)?.results[0];
  if (!result) throw new Error('the first step has no result');
  return result;
}
