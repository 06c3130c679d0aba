import type { JsonObject } from '../json.ts';
import type { Messages } from '../messages/messages.ts';
import type { Checked, JsonSchema } from './schema.ts';

/** What a tool may read of the run; `AgentState` fits by shape. */
export interface ToolStateView {
  readonly agentId: string;
  readonly agentName: string | null;
  readonly parentAgentId: string | null;
  readonly stepCount: number;
  readonly messages: Messages;
  readonly metadata: JsonObject;
}

export interface ToolContext<Deps = Record<string, unknown>> {
  /** Aborted on the tool's timeout, the run's deadline and a stop. */
  readonly signal: AbortSignal;
  readonly state: ToolStateView;
  readonly executionId: string;
  readonly callId: string;
  /** The same for every try at this call: hand it to systems that can refuse a second effect. */
  readonly idempotencyKey: string;
  /** Live things given to `run()`; never stored. */
  readonly deps: Deps;
  readonly metadata: JsonObject;
  /** Ends the run after this step. */
  requestStop(reason: string): void;
  /** Pauses the run after this step, if it would continue. */
  requestPause(reason: string): void;
}

/** A tool as the loop sees it: schema made ready, argument type forgotten. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly jsonSchema: JsonSchema;
  /** Infinity for agents run as tools: the root's deadline binds them. */
  readonly timeoutMs: number;
  readonly idempotent: boolean;
  readonly maxResultChars: number;
  /** Null when no call needs approval; asked once per call, its answer is kept. */
  readonly needsApproval: ((args: unknown) => boolean | Promise<boolean>) | null;
  check(args: unknown): Checked | Promise<Checked>;
  execute(args: unknown, context: ToolContext): unknown;
  /** Set by `agent.asTool()`: the loop runs that agent under this call instead of `execute`. */
  readonly agent?: unknown;
}

/** What the model is told of a tool. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}
