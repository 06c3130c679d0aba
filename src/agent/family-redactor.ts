import { bothRedactors, type Redactor } from '../errors/redactor.ts';
import type { AgentDefinition } from './agent-options.ts';

const made = new WeakMap<AgentDefinition, Redactor>();

/** Combines the redactors of an agent and all its nested agents, for calls of nested agents. */
export function familyRedactor(agent: AgentDefinition): Redactor {
  const known = made.get(agent);
  if (known) return known;
  const inner = Array.from(agent.tools.values()).flatMap(({ agent: nested }) =>
    nested === undefined ? [] : [familyRedactor((nested as NestedAgent).definition)],
  );
  const [...redactors] = new Set([agent.redactor, ...inner]);
  const redactor = redactors.reduce(bothRedactors);
  made.set(agent, redactor);
  return redactor;
}

interface NestedAgent {
  readonly definition: AgentDefinition;
}
