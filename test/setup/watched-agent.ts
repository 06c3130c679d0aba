import {
  createAgent,
  defineTool,
  type Agent,
  type AgentEvent,
  type AgentState,
  type Capability,
} from 'onward';
import { DeterministicDriver, type ScenarioStep } from 'onward/testing';

/** Creates an agent from options that types would refuse. */
export const create = createAgent as unknown as (options: object) => Agent;

export interface Watched {
  readonly agent: Agent;
  readonly model: DeterministicDriver;
  readonly ran: string[];
  readonly events: AgentEvent[];
  run(text?: string): Promise<AgentState>;
}

/** An agent with a tool that notes its runs, and all events of its runs. */
export function watched(
  steps: readonly (ScenarioStep | string)[],
  capabilities: readonly Capability[],
  more: object = {},
): Watched {
  const model = DeterministicDriver.fromSteps(...steps);
  const ran: string[] = [];
  const events: AgentEvent[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: { type: 'object' },
    execute: () => void ran.push('pay'),
  });
  const agent = create({ model, tools: [pay], capabilities, ...more });
  const wiretap = (event: AgentEvent): void => void events.push(event);
  return { agent, model, ran, events, run: (text = 'go') => agent.run(text, { wiretap }) };
}

/** Everything that anyone could have seen of a run. */
export const seen = ({ events }: Watched, state: AgentState): string =>
  JSON.stringify([events, state, state.output]);
