import { AgentBuilder, type Tool } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';

const { toolCall, final } = ScenarioStep;

export const builder = (steps: readonly ScenarioStep[], ...tools: readonly Tool[]): AgentBuilder =>
  AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(...steps))
    .withTools(...tools);

export const oneCall = (): ScenarioStep[] => [toolCall('search', { q: 'lamp' }), final('done')];
