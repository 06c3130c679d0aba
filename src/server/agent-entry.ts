import type { AnyAgent } from '../agent/agent.ts';

/** An agent with its description for users. */
export interface AgentEntry {
  readonly agent: AnyAgent;
  /** Name to show. Default: the agent's name. */
  readonly title?: string;
  readonly description?: string;
  /** Name of the model to show. Default: the name of the driver. */
  readonly model?: string;
  /** Whether a script answers instead of a model. Clients show this. */
  readonly isDemo?: boolean;
  /** Suggested first messages. */
  readonly suggestions?: readonly string[];
}
