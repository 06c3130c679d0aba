import type { InferenceRequest, InferenceResponse } from '../inference/inference-driver.ts';
import type { JsonObject } from '../json.ts';
import type { ContinuationCriterion } from '../continuation/criterion.ts';
import type { AllOf, AnyTool, Call, CallsOf, DepsOf } from '../tools/tool.ts';
import type { AnyToolSource, ToolSource } from '../tools/tool-source.ts';
import type { AgentGuard } from './guard.ts';
import type { ToolFinder } from './offered-tools.ts';
import type { AgentState } from './agent-state.ts';
import type { AgentStep } from './agent-step.ts';
import type { AnyPrepareStep, PrepareStep } from './prepare-step.ts';
import type { RunObserver } from './run-observer.ts';

export interface HookContext<Deps = {}> {
  readonly agentId: string;
  readonly executionId: string;
  readonly signal: AbortSignal;
  readonly deps: Deps;
}

export type Next<Input, Output> = (input: Input) => Promise<Output>;
type Around<Input, Output, Deps> = (
  input: Input,
  next: Next<Input, Output>,
  context: HookContext<Deps>,
) => Promise<Output>;

export interface ExecutionInput<Output = unknown> {
  readonly state: AgentState<Output>;
}
export interface StepInput {
  readonly state: AgentState;
  readonly stepNumber: number;
  readonly attempt: number;
}
/** Result of a step, before the criteria are evaluated. */
export type StepReport = Pick<AgentStep, 'toolCalls' | 'errors' | 'usage' | 'finishReason'>;

export interface ToolCallInput {
  readonly tool: string;
  readonly callId: string;
  readonly args: JsonObject;
  readonly state: AgentState;
}

/**
 * Code around the parts of a run. `Deps` are its dependencies, `Output` is the output of the agents that it supports.
 * Hooks added first are outermost. An abort takes precedence over the return value of a hook.
 */
export interface Hook<Deps = {}, Output = unknown> {
  readonly name: string;
  /** A throw ends the run with `error`. The type only reads `Output`, so that a general hook fits every agent. */
  readonly aroundExecution?: (
    input: ExecutionInput<Output>,
    next: (input: ExecutionInput) => Promise<AgentState<Output>>,
    context: HookContext<Deps>,
  ) => Promise<AgentState>;
  /** A throw is a failed model call of type `unknown`. */
  readonly aroundStep?: Around<StepInput, StepReport, Deps>;
  /** A throw is a failed model call of type `unknown`. */
  readonly aroundModelCall?: Around<InferenceRequest, InferenceResponse, Deps>;
  /** Return `{ blocked: reason }` to keep the tool from running; a throw is that call's result. */
  readonly aroundToolCall?: Around<ToolCallInput, unknown, Deps>;
}

/** Any hook, with any dependencies and output. */
export type AnyHook = Hook<never, never>;

/** Hooks with different dependencies. The compiler infers the tuple of dependencies from the list. */
export type HookList<D extends readonly unknown[], Output> = {
  readonly [K in keyof D]: Hook<D[K], Output>;
};
export type CriterionList<D extends readonly unknown[], Output> = {
  readonly [K in keyof D]: ContinuationCriterion<AgentState<Output>, D[K]>;
};

/** Any capability, with any dependencies. */
export interface AnyCapability {
  readonly name: string;
  /** Tools, or a function that returns them before each step. */
  readonly tools?: readonly AnyTool[] | AnyToolSource;
  readonly hooks?: readonly AnyHook[];
  readonly criteria?: readonly ContinuationCriterion<never, never>[];
  readonly systemPrompt?: string;
  /** Closes connections. Called by `agent.close()`, and when the last runtime with this agent closes. */
  close?(): Promise<void>;
  readonly prepareStep?: AnyPrepareStep;
  /** Keeps tools out of the requests. At most one capability of an agent has it; `toolSearch()` makes one. */
  readonly toolFinder?: ToolFinder;
  /** Checks of messages, answers and calls; `guardInput()` and its siblings make them. */
  readonly guards?: readonly AgentGuard[];
  /** Watches the runs. At most one capability of an agent has it; `telemetry()` makes one. */
  readonly observer?: RunObserver;
  /** For types only; never set. */
  readonly '~needs'?: ((deps: never) => void) | undefined;
  readonly '~call'?: Call | undefined;
}

/** Tools, hooks, criteria, a prompt and a `prepareStep` that belong together. Make one with {@link defineCapability}. */
export interface Capability<in Deps = {}, out C extends Call = Call> extends AnyCapability {
  readonly '~needs'?: ((deps: Deps) => void) | undefined;
  readonly '~call'?: C | undefined;
}

/** The parts of a capability besides its tools. */
interface CapabilityParts<
  HookDeps extends readonly unknown[],
  CriterionDeps extends readonly unknown[],
  PrepareDeps,
> {
  readonly name: string;
  readonly systemPrompt?: string;
  readonly prepareStep?: PrepareStep<string, PrepareDeps>;
  readonly hooks?: HookList<HookDeps, unknown>;
  readonly criteria?: CriterionList<CriterionDeps, unknown>;
  readonly close?: () => Promise<void>;
}

/** Types a capability: the dependencies of its tools, hooks and criteria, and the calls that it adds. */
export function defineCapability<
  const Tools extends readonly AnyTool[] = readonly [],
  const HookDeps extends readonly unknown[] = readonly [],
  const CriterionDeps extends readonly unknown[] = readonly [],
  PrepareDeps = unknown,
>(
  capability: CapabilityParts<HookDeps, CriterionDeps, PrepareDeps> & { readonly tools?: Tools },
): Capability<
  DepsOf<Tools[number]> &
    AllOf<HookDeps> &
    AllOf<CriterionDeps> &
    AllOf<readonly [NoInfer<PrepareDeps>]>,
  CallsOf<Tools[number]>
>;
/** Types a capability whose tools are only known at run time. */
export function defineCapability<
  Deps = {},
  const HookDeps extends readonly unknown[] = readonly [],
  const CriterionDeps extends readonly unknown[] = readonly [],
  PrepareDeps = unknown,
>(
  capability: CapabilityParts<HookDeps, CriterionDeps, PrepareDeps> & {
    readonly tools: ToolSource<Deps>;
  },
): Capability<
  Deps & AllOf<HookDeps> & AllOf<CriterionDeps> & AllOf<readonly [NoInfer<PrepareDeps>]>
>;
export function defineCapability(capability: AnyCapability): AnyCapability {
  return capability; // createAgent checks its members
}

export type HookPoint = 'aroundExecution' | 'aroundStep' | 'aroundModelCall' | 'aroundToolCall';

/** Untyped context that the loop passes; each hook types its own dependencies. */
type LoopContext = HookContext<Record<string, unknown>>;
type LoopAround<Input, Output> = Around<Input, Output, Record<string, unknown>>;

/** All hooks of one point as one function; null without hooks, which costs nothing. */
export type Composed<Input, Output> =
  | ((input: Input, inner: Next<Input, Output>, context: LoopContext) => Promise<Output>)
  | null;

export interface ComposedHooks {
  readonly execution: Composed<ExecutionInput, AgentState>;
  readonly step: Composed<StepInput, StepReport>;
  readonly modelCall: Composed<InferenceRequest, InferenceResponse>;
  readonly toolCall: Composed<ToolCallInput, unknown>;
}

export function composeHooks(given: readonly AnyHook[]): ComposedHooks {
  const hooks = given as readonly Hook<Record<string, unknown>>[]; // the caller of a run passes their dependencies
  return {
    execution: compose(hooks, 'aroundExecution', (h) => h.aroundExecution),
    step: compose(hooks, 'aroundStep', (h) => h.aroundStep),
    modelCall: compose(hooks, 'aroundModelCall', (h) => h.aroundModelCall),
    toolCall: compose(hooks, 'aroundToolCall', (h) => h.aroundToolCall),
  };
}

/** An error that a hook threw, with the name of the hook. */
export class HookFailure extends Error {
  override readonly name = 'HookFailure';
  readonly hook: string;
  constructor(hook: string, point: HookPoint, cause: unknown) {
    const text = cause instanceof Error ? cause.message : String(cause);
    super(`Hook "${hook}" threw in ${point}: ${text}`, { cause });
    this.hook = hook;
  }
}

function compose<Input, Output>(
  hooks: readonly Hook<Record<string, unknown>>[],
  point: HookPoint,
  pick: (hook: Hook<Record<string, unknown>>) => LoopAround<Input, Output> | undefined,
): Composed<Input, Output> {
  const layers = hooks.flatMap((hook) => {
    const around = pick(hook);
    return around ? [{ name: hook.name, around: around.bind(hook) }] : [];
  });
  if (layers.length === 0) return null;
  return (input, inner, context) => {
    // only a hook's own error gets the name of the hook
    let fromInside: { readonly error: unknown } | null = null;
    const guardedInner: Next<Input, Output> = async (given) => {
      try {
        return await inner(given);
      } catch (error) {
        fromInside = { error };
        throw error;
      }
    };
    const chain = layers.reduceRight<Next<Input, Output>>(
      (next, { name, around }) =>
        async (given) => {
          try {
            return await around(given, (input) => watched(next(input)), context);
          } catch (error) {
            if (fromInside?.error === error || error instanceof HookFailure) throw error;
            throw new HookFailure(name, point, error);
          }
        },
      guardedInner,
    );
    return chain(input);
  };
}

/** Prevents an unhandled rejection if a hook does not await `next`. */
function watched<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}
