import { AgentBuilder, type Agent, type AgentState, type Tool } from 'onward';
import type { InferenceResponse } from 'onward/drivers';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';

const { toolCall, final } = ScenarioStep;

export const builder = (steps: readonly ScenarioStep[], ...tools: readonly Tool[]): AgentBuilder =>
  AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(...steps))
    .withTools(...tools);

export const oneCall = (): ScenarioStep[] => [toolCall('search', { q: 'lamp' }), final('done')];

/** A response that a hook returns instead of calling the model. */
export const answering = (content: string): InferenceResponse => ({
  content,
  toolCalls: [],
  finishReason: 'stop',
  usage: null,
});

/** Runs the agent and returns the streamed chunks. */
export async function shownBy(
  agent: Agent,
): Promise<{ readonly state: AgentState; readonly chunks: readonly string[] }> {
  const chunks: string[] = [];
  const state = await agent.run('go', {
    wiretap: (event) => {
      if (event.type === 'StreamChunk') chunks.push(event.content);
    },
  });
  return { state, chunks };
}
