import type { AnyTool } from './tool.ts';

/** The run that asks a source for its tools. */
export interface ToolSourceContext<Deps = {}> {
  /** Owner of the session, or the `owner` of the run; null without one. */
  readonly owner: string | null;
  readonly agentId: string;
  readonly executionId: string;
  readonly deps: Deps;
  /** Signal that aborts on the run's deadline and on a stop. */
  readonly signal: AbortSignal;
}

/** The tools that a source has now. */
export interface ToolList {
  readonly tools: readonly AnyTool[];
  /** Why tools are missing, as a sentence; absent if the list is complete. */
  readonly unavailable?: string;
}

/**
 * Returns the tools that are known only at run time, such as those of a server. The loop calls it before each step: return
 * the same object while nothing has changed. A throw fails the step with the code `tools_unavailable`.
 */
export type ToolSource<Deps = {}> = (
  context: ToolSourceContext<Deps>,
) => ToolList | Promise<ToolList>;

/** Any source, with any dependencies. */
export type AnyToolSource = ToolSource<never>;
