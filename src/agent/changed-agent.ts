import { invalidOption } from '../errors/agent-error.ts';
import { createEventBus } from '../events/event-bus.ts';
import type { InferenceDriver } from '../inference/inference-driver.ts';
import type { AnyTool } from '../tools/tool.ts';
import { agentFrom, partsOf, type Agent, type AnyAgent } from './agent.ts';
import { toolSchema, type AgentDefinition } from './agent-options.ts';
import type { AgentModel } from './model-chain.ts';
import type { Nested } from './nested-agent.ts';

/** What to change in an agent and in all agents behind its calls. `path` has the tools that lead to the agent. */
export interface AgentChanges {
  driver(driver: InferenceDriver, path: readonly string[]): InferenceDriver;
  tool(tool: AnyTool, path: readonly string[]): AnyTool;
  /** Tools in place of those that are only known at run time, for an agent that has such tools beside these. */
  sourced(own: ReadonlySet<string>): readonly AnyTool[];
}

/** Most milliseconds between retries of a changed agent: its models and tools are not those that needed the wait. */
const BACKOFF = { initialMs: 1, maxMs: 1 };

/** Returns a copy of an agent with other models and tools, for tests. Limits, policies, hooks and guards are those of the agent. */
export function changedAgent(agent: AnyAgent, changes: AgentChanges): Agent {
  const parts = partsOf(agent);
  if (!parts) throw invalidOption('agent', agent, 'what createAgent() or build() returns');
  return agentFrom(changed(parts.definition, changes, []), createEventBus());
}

function changed(
  definition: AgentDefinition,
  changes: AgentChanges,
  path: readonly string[],
): AgentDefinition {
  const models = new WeakMap<AgentModel, AgentModel>();
  const modelOf = (model: AgentModel): AgentModel => {
    const known = models.get(model);
    if (known) return known;
    const made = { ...model, driver: changes.driver(model.driver, path) };
    models.set(model, made);
    return made;
  };
  const toolOf = (tool: AnyTool): AnyTool => {
    const { agent } = changes.tool(tool, path);
    if (agent === undefined) return changes.tool(tool, path);
    const nested = agent as Nested;
    const inner = changed(nested.definition, changes, [...path, tool.name]);
    return Object.freeze({ ...tool, agent: { definition: inner, bus: createEventBus() } });
  };
  const sourced = definition.toolSources.length > 0 ? changes.sourced(definition.toolNameSet) : [];
  const tools = new Map([
    ...[...definition.tools].map(([name, tool]) => [name, toolOf(tool)] as const),
    ...sourced.map((tool) => [tool.name, tool] as const),
  ]);
  const [first, ...others] = definition.models;
  const { compaction, errorPolicy } = definition;
  return Object.freeze({
    ...definition,
    models: [modelOf(first), ...others.map(modelOf)] as const,
    modelOf: (input) => modelOf(definition.modelOf(input)),
    compaction: compaction && {
      ...compaction,
      model: compaction.model && modelOf(compaction.model),
    },
    tools,
    toolNames: [...definition.toolNames, ...sourced.map(({ name }) => name)],
    toolNameSet: new Set([...definition.toolNameSet, ...sourced.map(({ name }) => name)]),
    toolSchemas: [...definition.toolSchemas, ...sourced.map(toolSchema)],
    toolSources: sourced.length > 0 ? [] : definition.toolSources,
    errorPolicy: errorPolicy.withBackoff(BACKOFF),
  } satisfies AgentDefinition);
}
