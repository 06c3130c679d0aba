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

/** What a tool knows about its call. Annotate it where a tool needs dependencies: `{ deps }: ToolContext<{ crm: Crm }>`. */
export interface ToolContext<Deps = {}> {
  /** Aborted on the tool's timeout, the run's deadline and a stop. */
  readonly signal: AbortSignal;
  readonly state: ToolStateView;
  readonly executionId: string;
  readonly callId: string;
  /** The same for every try at this call: hand it to systems that can refuse a second effect. */
  readonly idempotencyKey: string;
  /** Dependencies given to `run()`; never stored. */
  readonly deps: Deps;
  readonly metadata: JsonObject;
  /** Ends the run after this step. */
  requestStop(reason: string): void;
  /** Pauses the run after this step, if it would continue. */
  requestPause(reason: string): void;
}

/** One kind of call that an agent can make: the tool's name, the arguments of the model, the result of `execute`. */
export interface Call<Name extends string = string, Args = unknown, Result = unknown> {
  readonly tool: Name;
  readonly args: Args;
  readonly result: Result;
}

/** Any tool, whatever it needs: what the loop and lists of tools take. */
export interface AnyTool {
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
  execute(args: unknown, context: ToolContext<Record<string, unknown>>): unknown;
  /** Set by `agent.asTool()`: the loop runs that agent under this call instead of `execute`. */
  readonly agent?: unknown;
  /** For the compiler alone, like all names with `~`: never set. */
  readonly '~needs'?: ((deps: never) => void) | undefined;
  readonly '~call'?: Call | undefined;
}

/** A tool that needs `Deps` and makes calls of the kind `C`. */
export interface Tool<in Deps = {}, out C extends Call = Call> extends AnyTool {
  readonly name: C['tool'];
  readonly '~needs'?: ((deps: Deps) => void) | undefined;
  readonly '~call'?: C | undefined;
}

/** What a union of tools, capabilities or agents needs, all together; `{}` is nothing. */
export type DepsOf<T> = [NeedsOf<T>] extends [(deps: infer D) => void]
  ? unknown extends D
    ? {}
    : D
  : {};
type NeedsOf<T> = T extends { readonly '~needs'?: (infer Needs) | undefined } ? Needs : never;

/** The calls that a union of tools or capabilities makes possible; any call where a tool was made by hand. */
export type CallsOf<T> = T extends { readonly '~call'?: (infer C) | undefined }
  ? C extends Call
    ? C
    : never
  : Call;

/** All needs of a list together: of a tuple, or of a list that is only known at run time. */
export type AllOf<D extends readonly unknown[]> = [
  { [K in keyof D]: (deps: D[K]) => void }[number],
] extends [(deps: infer N) => void]
  ? unknown extends N
    ? {}
    : N
  : {};

/** What the model is told of a tool. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}
