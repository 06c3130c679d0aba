import type { AnyAgent } from '../agent/agent.ts';
import { defaultRedactor } from '../errors/redactor.ts';
import type { AgentEntry } from './agent-entry.ts';
import type { AgentInfo, ServerInfo } from './api.ts';
import { version } from './version.ts';

/** Creates the part of `/info` that does not depend on the request, once. */
export function serverInfo(options: {
  readonly name?: string;
  readonly store?: string;
  readonly agents?: readonly (AnyAgent | AgentEntry)[];
}): Omit<ServerInfo, 'owner' | 'isOperator'> {
  const { name = 'onward', store = null, agents = [] } = options;
  return defaultRedactor.value({ name, version, store, agents: agents.map(agentInfo) });
}

function agentInfo(given: AnyAgent | AgentEntry): AgentInfo {
  const entry: AgentEntry = 'agent' in given ? given : { agent: given };
  const { name, driver, tools, limits } = entry.agent.describe();
  return {
    name,
    title: entry.title ?? name,
    description: entry.description ?? '',
    model: entry.model ?? driver,
    isDemo: entry.isDemo ?? false,
    tools: tools.map(({ name: tool, description, needsApproval }) => ({
      name: tool,
      description,
      needsApproval,
    })),
    limits,
    suggestions: entry.suggestions ?? [],
  };
}
