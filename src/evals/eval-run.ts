import type { AgentState } from '../agent/agent-state.ts';
import type { AgentStatus } from '../agent/agent-status.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import type { Usage } from '../inference/usage.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { ToolResultKind } from '../tools/tool-result.ts';
import type { Trace } from '../trace/index.ts';

/** A tool call of a run. */
export interface EvalCall {
  readonly tool: string;
  readonly args: JsonObject;
  /** Step of the agent itself; for a call of a nested agent, the step in which that agent runs. */
  readonly step: number;
  /** Name of the nested agent that made the call; null for the agent itself. */
  readonly agent: string | null;
  /** `waiting`: it needs approval or input. */
  readonly kind: ToolResultKind | 'waiting';
  readonly result: JsonValue;
  readonly error: string | null;
  readonly durationMs: number;
}

/** A run of a case with its trace. Scorers and matchers read it. */
export interface EvalRun<Output = unknown> {
  /** Text of the user's message. */
  readonly input: string;
  readonly output: Output | null;
  /** The last text of the model. */
  readonly outputText: string;
  readonly status: AgentStatus;
  /** Null while it is paused. */
  readonly stopReason: StopReason | null;
  /** Why it stopped or waits. */
  readonly explanation: string;
  /** All calls in order; those of nested agents follow the call that runs the agent. */
  readonly calls: readonly EvalCall[];
  readonly stepCount: number;
  readonly usage: Usage;
  /** Null if the price of a model is unknown. */
  readonly cost: number | null;
  /** Working time in milliseconds, without pauses. */
  readonly durationMs: number;
  /** Session in which it was recorded; null if it was not. */
  readonly sessionId: string | null;
  readonly executionId: string | null;
  readonly trace: Trace;
  readonly state: AgentState<Output>;
}
