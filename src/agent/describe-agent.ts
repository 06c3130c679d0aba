import type { ErrorPolicyJSON } from '../errors/error-policy.ts';
import type { AgentDefinition } from './agent-options.ts';

/** An agent as `describe()` shows it: everything that was set, in plain data. */
export interface AgentDescription {
  readonly name: string;
  readonly driver: string;
  readonly systemPrompt: string | null;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly needsApproval: boolean;
    readonly idempotent: boolean;
    readonly timeoutMs: number | null;
  }[];
  readonly limits: Readonly<Record<string, number>>;
  readonly criteria: readonly string[];
  readonly errorPolicy: ErrorPolicyJSON;
  readonly hooks: readonly string[];
  readonly softLanding: { readonly tokens: number; readonly seconds: number } | null;
}

export function describeAgent(definition: AgentDefinition): AgentDescription {
  const { name, driver, systemPrompt, tools, criteria, errorPolicy, hookNames } = definition;
  const limits = criteria.list.flatMap((c) => (c.limit === undefined ? [] : [[c.name, c.limit]]));
  return {
    name,
    driver: driver.name,
    systemPrompt,
    tools: Array.from(tools.values(), (tool) => ({
      name: tool.name,
      description: tool.description,
      needsApproval: tool.needsApproval !== null,
      idempotent: tool.idempotent,
      timeoutMs: Number.isFinite(tool.timeoutMs) ? tool.timeoutMs : null,
    })),
    limits: Object.fromEntries(limits) as Record<string, number>,
    criteria: criteria.list.map((c) => c.name),
    errorPolicy: errorPolicy.toJSON(),
    hooks: hookNames,
    softLanding: definition.landingReserve,
  };
}
