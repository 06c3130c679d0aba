import type { AnyAgent } from '../agent/agent.ts';

/** An agent with what people should read about it. */
export interface AgentEntry {
  readonly agent: AnyAgent;
  /** Default: the agent's name. */
  readonly title?: string;
  readonly description?: string;
  /** The model as people know it. Default: the name of the driver. */
  readonly model?: string;
  /** A scripted stand-in answers, and everybody is told. */
  readonly isDemo?: boolean;
  /** Messages to begin with. */
  readonly suggestions?: readonly string[];
}
