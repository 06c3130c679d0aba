import type { ErrorPolicyJSON } from '../errors/error-policy.ts';
import type { ErrorHandlingDecision } from '../errors/error-type.ts';
import type { AgentDefinition } from './agent-options.ts';

/** The configuration of an agent as plain data, from `describe()`. */
export interface AgentDescription {
  readonly name: string;
  readonly driver: string;
  /** Models to continue with when a model fails; absent if there are none. */
  readonly fallback?: readonly string[];
  readonly systemPrompt: string | null;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly needsApproval: boolean;
    readonly idempotent: boolean;
    readonly timeoutMs: number | null;
    /** Absent if the error policy applies. */
    readonly onError?: ErrorHandlingDecision;
    readonly maxRetries?: number;
  }[];
  /** Capabilities whose tools are only known at run time; absent if there are none. */
  readonly toolSources?: readonly string[];
  /** Names of the tools that a run offers by default; absent if it offers all. */
  readonly activeTools?: readonly string[];
  /** What chooses tools, model and prompt of a step, in order; absent if nothing does. */
  readonly prepareStep?: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
  readonly criteria: readonly string[];
  readonly errorPolicy: ErrorPolicyJSON;
  readonly hooks: readonly string[];
  readonly softLanding: { readonly tokens: number; readonly seconds: number } | null;
}

export function describeAgent(definition: AgentDefinition): AgentDescription {
  const { name, systemPrompt, tools, criteria, errorPolicy, hookNames } = definition;
  const [first, ...fallback] = definition.models;
  const limits = criteria.list.flatMap((c) => (c.limit === undefined ? [] : [[c.name, c.limit]]));
  return {
    name,
    driver: first.driver.name,
    ...(fallback.length > 0 && { fallback: fallback.map(({ id }) => id) }),
    systemPrompt,
    tools: Array.from(tools.values(), (tool) => ({
      name: tool.name,
      description: tool.description,
      needsApproval: tool.needsApproval !== null,
      idempotent: tool.idempotent,
      timeoutMs: Number.isFinite(tool.timeoutMs) ? tool.timeoutMs : null,
      ...(tool.onError !== undefined && { onError: tool.onError }),
      ...(tool.maxRetries !== undefined && { maxRetries: tool.maxRetries }),
    })),
    ...(definition.toolSources.length > 0 && {
      toolSources: definition.toolSources.map((source) => source.name),
    }),
    ...(definition.activeTools && { activeTools: definition.activeTools }),
    ...(definition.preparers && { prepareStep: definition.preparers.map(({ source }) => source) }),
    limits: Object.fromEntries(limits) as Record<string, number>,
    criteria: criteria.list.map((c) => c.name),
    errorPolicy: errorPolicy.toJSON(),
    hooks: hookNames,
    softLanding: definition.landingReserve,
  };
}
