import type { ErrorHandlingDecision } from '../errors/error-type.ts';
import type { JsonObject } from '../json.ts';
import type { CacheTtl } from '../messages/cache-mark.ts';
import type { Messages } from '../messages/messages.ts';
import type { GivenInput, requestInput } from './input-request.ts';
import type { Checked, JsonSchema } from './schema.ts';
import type { ToolProgress } from './tool-progress.ts';

/** The parts of the run that a tool may read; `AgentState` has this shape. */
export interface ToolStateView {
  readonly agentId: string;
  readonly agentName: string | null;
  readonly parentAgentId: string | null;
  readonly stepCount: number;
  readonly messages: Messages;
  readonly metadata: JsonObject;
}

/** Context of a tool call. Annotate it if a tool needs dependencies: `{ deps }: ToolContext<{ crm: Crm }>`. */
export interface ToolContext<Deps = {}> {
  /** Signal that aborts on the tool's timeout, the run's deadline and a stop. */
  readonly signal: AbortSignal;
  readonly state: ToolStateView;
  readonly executionId: string;
  readonly callId: string;
  /** Key that is the same for every attempt of this call. Pass it to systems that reject duplicates. */
  readonly idempotencyKey: string;
  /** Dependencies passed to `run()`; never stored. */
  readonly deps: Deps;
  readonly metadata: JsonObject;
  /**
   * W3C trace headers for requests of this call, such as `traceparent`; empty without `telemetry()`. Read them while
   * `execute` runs.
   */
  readonly traceHeaders?: Readonly<Record<string, string>>;
  /**
   * Reports progress, such as `{ progress: 3, total: 10, message: 'Reading' }`, as a `ToolProgress` event. At most one
   * report per second is passed on.
   */
  progress(progress: ToolProgress): void;
  /** The answers to questions that this call asked with `requestInput`; null while it has asked none. */
  readonly input: GivenInput | null;
  /** Ends the run after this step. */
  requestStop(reason: string): void;
  /** Pauses the run after this step, if it would continue. */
  requestPause(reason: string): void;
  /**
   * Asks the user in the middle of the call: return its result. The run pauses, and `execute` runs again with the answers
   * in `input`, also in another process. `state` comes back unchanged.
   */
  readonly requestInput: typeof requestInput;
}

/** One kind of call of an agent: the tool's name, the model's arguments, the result of `execute`. */
export interface Call<Name extends string = string, Args = unknown, Result = unknown> {
  readonly tool: Name;
  readonly args: Args;
  readonly result: Result;
}

/** Any tool, with any dependencies: the type of the loop and of lists of tools. */
export interface AnyTool {
  readonly name: string;
  readonly description: string;
  readonly jsonSchema: JsonSchema;
  /** Timeout in milliseconds. Infinity for nested agents: the root's deadline applies to them. */
  readonly timeoutMs: number;
  readonly idempotent: boolean;
  readonly maxResultChars: number;
  /** How errors of this tool are handled, before the error policy of the agent applies. */
  readonly onError?: ErrorHandlingDecision;
  /** Retries after failures of this tool in a row, in place of the count of the error policy. */
  readonly maxRetries?: number;
  /** How long the cache mark at the end of this tool lasts; absent if there is none. */
  readonly cache?: CacheTtl;
  /** Returns whether a call needs approval; null if none does. Called once per call, and its result is kept. */
  readonly needsApproval: ((args: unknown) => boolean | Promise<boolean>) | null;
  check(args: unknown): Checked | Promise<Checked>;
  execute(args: unknown, context: ToolContext<Record<string, unknown>>): unknown;
  /** Set by `agent.asTool()`: the loop runs that agent for this call instead of `execute`. */
  readonly agent?: unknown;
  /** For types only, like all names with `~`; never set. */
  readonly '~needs'?: ((deps: never) => void) | undefined;
  readonly '~call'?: Call | undefined;
}

/** A tool that needs `Deps` and makes calls of the kind `C`. */
export interface Tool<in Deps = {}, out C extends Call = Call> extends AnyTool {
  readonly name: C['tool'];
  readonly '~needs'?: ((deps: Deps) => void) | undefined;
  readonly '~call'?: C | undefined;
}

/** The combined dependencies of a union of tools, capabilities or agents; `{}` for none. */
export type DepsOf<T> = [NeedsOf<T>] extends [(deps: infer D) => void]
  ? unknown extends D
    ? {}
    : D
  : {};
type NeedsOf<T> = T extends { readonly '~needs'?: (infer Needs) | undefined } ? Needs : never;

/** The calls of a union of tools or capabilities; any call if a tool was created without `defineTool`. */
export type CallsOf<T> = T extends { readonly '~call'?: (infer C) | undefined }
  ? C extends Call
    ? C
    : never
  : Call;

/** The combined dependencies of a list: of a tuple, or of a list that is only known at run time. */
export type AllOf<D extends readonly unknown[]> = [
  { [K in keyof D]: (deps: D[K]) => void }[number],
] extends [(deps: infer N) => void]
  ? unknown extends N
    ? {}
    : N
  : {};

/** The description of a tool for the model. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  /** How long the cache mark at the end of this tool lasts; absent if there is none. */
  readonly cache?: CacheTtl;
}
