import { ContinuationCriteria } from '../continuation/continuation-criteria.ts';
import { AgentError } from '../errors/agent-error.ts';
import type { ErrorHandlingDecision } from '../errors/error-type.ts';
import type { CacheMark } from '../messages/cache-mark.ts';
import type { EventBus } from '../events/event-bus.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { AnyTool } from '../tools/tool.ts';
import type { AgentDefinition } from './agent-options.ts';
import type { AgentState } from './agent-state.ts';

export interface Nested {
  readonly definition: AgentDefinition;
  readonly bus: EventBus;
}

export interface AsToolOptions<Name extends string = string> {
  readonly name: Name;
  readonly description: string;
  readonly needsApproval?: boolean | ((args: AgentArgs) => boolean | Promise<boolean>);
  readonly maxResultChars?: number;
  /** How a failure of the agent is handled. A child that stopped at a limit is not a failure. */
  readonly onError?: ErrorHandlingDecision;
  /** Retries after failures of the agent in a row. Default: the count of the error policy. */
  readonly maxRetries?: number;
  /** Cache mark at the end of this tool, which covers the tools before it too. */
  readonly cache?: CacheMark;
}

/** The arguments of an agent that is a tool. */
export interface AgentArgs {
  readonly input: string;
}

const parameters = {
  type: 'object',
  properties: { input: { type: 'string', description: 'What the agent should do, in full.' } },
  required: ['input'],
  additionalProperties: false,
} as const;

/** Returns the agent as a tool of another agent: the model passes a task and gets the answer. */
export function agentAsTool({ definition, bus }: Nested, options: AsToolOptions): AnyTool {
  const tool = defineTool({ ...options, parameters, execute: () => null });
  const agent: Nested = { definition: withoutTimeLimits(definition), bus };
  return Object.freeze({ ...tool, timeoutMs: Number.POSITIVE_INFINITY, agent });
}

/** Removes the time limits of a nested agent. The root's deadline applies to it instead. */
function withoutTimeLimits(definition: AgentDefinition): AgentDefinition {
  const criteria = definition.criteria.list.filter((c) => c.remainingMs === undefined);
  return Object.freeze({ ...definition, criteria: ContinuationCriteria.from(...criteria) });
}

export const definitionOf = (tool: AnyTool): AgentDefinition => (tool.agent as Nested).definition;

/** Whether the agent inside a call is still the one behind its tool: another version of the root may have replaced it. */
export const canContinue = ({ agentName }: AgentState, tool: AnyTool | undefined): boolean =>
  tool?.agent !== undefined && (agentName === null || agentName === definitionOf(tool).name);

/** A call that continues later: after an approval, or in another process. Holds the agent's state. */
export class NestedPause {
  readonly state: AgentState;
  constructor(state: AgentState) {
    this.state = state;
  }
}

/** Throws if the state belongs to another agent. */
export function checkAgentName(agent: AgentDefinition, state: AgentState): void {
  if (state.agentName === null || state.agentName === agent.name) return;
  throw new AgentError(
    'foreign_state',
    `This state belongs to agent "${state.agentName}", and this is agent "${agent.name}". ` +
      'Run it with the agent that created it, or reassign it with state.withAgentName(...).',
    { details: { stateAgent: state.agentName, agent: agent.name } },
  );
}
