import type { LandingReserve } from '../continuation/criterion.ts';
import type { ErrorPolicyJSON } from '../errors/error-policy.ts';
import type { ToolErrorRule } from '../errors/retry-limits.ts';
import { canonicalJson } from '../json.ts';
import { sha256 } from '../sha256.ts';
import type { AgentLimits, OwnCriterion } from './agent-criteria.ts';
import type { AgentDefinition } from './agent-options.ts';

/** What decided a run: the limits and the error policy of the agent, as plain data. */
export interface RecordedPolicy {
  /** First 16 hex digits of the SHA-256 of the rest. */
  readonly hash: string;
  readonly limits: AgentLimits;
  readonly errorPolicy: Pick<ErrorPolicyJSON, 'on' | 'maxRetries'>;
  /** Tools with their own error rules; absent without one. */
  readonly tools?: readonly (ToolErrorRule & { readonly name: string })[];
  /** Ids of the models; absent without a fallback. */
  readonly models?: readonly string[];
  /** Budget that the soft landing reserves; absent without soft landing. */
  readonly softLanding?: LandingReserve;
  /** Criteria of the user and of capabilities, in order; absent without one. */
  readonly own?: readonly OwnCriterion[];
  /** The agent has its own `errorContextResolver`, which is code. */
  readonly hasErrorResolver?: true;
}

const kept = new WeakMap<AgentDefinition, RecordedPolicy>();

/** Returns what decides the runs of an agent. Made once per agent, so that states share it. */
export function policyOf(agent: AgentDefinition): RecordedPolicy {
  const known = kept.get(agent);
  if (known) return known;
  const { limits, errorPolicy, models, landingReserve, ownCriteria, hasErrorResolver } = agent;
  const { on, maxRetries } = errorPolicy;
  const tools = toolRulesOf(agent);
  const policy = {
    limits,
    errorPolicy: { on, maxRetries },
    ...(tools.length > 0 && { tools }),
    ...(models.length > 1 && { models: models.map(({ id }) => id) }),
    ...(landingReserve && { softLanding: landingReserve }),
    ...(ownCriteria.length > 0 && { own: ownCriteria }),
    ...(hasErrorResolver && { hasErrorResolver }),
  };
  const made = Object.freeze({ hash: sha256(canonicalJson(policy)).slice(0, 16), ...policy });
  kept.set(agent, made);
  return made;
}

const toolRulesOf = ({ tools }: AgentDefinition): NonNullable<RecordedPolicy['tools']> =>
  Array.from(tools.values()).flatMap(({ name, onError, maxRetries }) =>
    onError === undefined && maxRetries === undefined
      ? []
      : [
          {
            name,
            ...(onError !== undefined && { onError }),
            ...(maxRetries !== undefined && { maxRetries }),
          },
        ],
  );
