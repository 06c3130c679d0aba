import type { InferenceRequest, InferenceResponse } from '../inference/inference-driver.ts';
import type { JsonObject } from '../json.ts';
import type { ContinuationCriterion } from '../continuation/criterion.ts';
import type { Tool } from '../tools/tool.ts';
import type { AgentState } from './agent-state.ts';
import type { AgentStep } from './agent-step.ts';

export interface HookContext {
  readonly agentId: string;
  readonly executionId: string;
  readonly signal: AbortSignal;
  readonly deps: Record<string, unknown>;
}

export type Next<Input, Output> = (input: Input) => Promise<Output>;
type Around<Input, Output> = (
  input: Input,
  next: Next<Input, Output>,
  context: HookContext,
) => Promise<Output>;

export interface ExecutionInput {
  readonly state: AgentState;
}
export interface StepInput {
  readonly state: AgentState;
  readonly stepNumber: number;
  readonly attempt: number;
}
/** What a step came to, before it is judged. */
export type StepReport = Pick<AgentStep, 'toolCalls' | 'errors' | 'usage' | 'finishReason'>;

export interface ToolCallInput {
  readonly tool: string;
  readonly callId: string;
  readonly args: JsonObject;
  readonly state: AgentState;
}

/** Code around the parts of a run. Hooks added first are outermost. An abort beats whatever a hook returns. */
export interface Hook {
  readonly name: string;
  /** A throw ends the run with `error`. */
  readonly aroundExecution?: Around<ExecutionInput, AgentState>;
  /** A throw is a failed model call of type `unknown`. */
  readonly aroundStep?: Around<StepInput, StepReport>;
  /** A throw is a failed model call of type `unknown`. */
  readonly aroundModelCall?: Around<InferenceRequest, InferenceResponse>;
  /** Return `{ blocked: reason }` to keep the tool from running; a throw is that call's result. */
  readonly aroundToolCall?: Around<ToolCallInput, unknown>;
}

/** Tools, hooks, criteria and prompt that belong together. */
export interface Capability {
  readonly name: string;
  readonly tools?: readonly Tool[];
  readonly hooks?: readonly Hook[];
  readonly criteria?: readonly ContinuationCriterion<AgentState>[];
  readonly systemPrompt?: string;
}

export type HookPoint = 'aroundExecution' | 'aroundStep' | 'aroundModelCall' | 'aroundToolCall';

/** All hooks of one point as one function, or null so that nothing is paid without hooks. */
export type Composed<Input, Output> =
  | ((input: Input, inner: Next<Input, Output>, context: HookContext) => Promise<Output>)
  | null;

export interface ComposedHooks {
  readonly execution: Composed<ExecutionInput, AgentState>;
  readonly step: Composed<StepInput, StepReport>;
  readonly modelCall: Composed<InferenceRequest, InferenceResponse>;
  readonly toolCall: Composed<ToolCallInput, unknown>;
}

export const composeHooks = (hooks: readonly Hook[]): ComposedHooks => ({
  execution: compose(hooks, 'aroundExecution', (h) => h.aroundExecution),
  step: compose(hooks, 'aroundStep', (h) => h.aroundStep),
  modelCall: compose(hooks, 'aroundModelCall', (h) => h.aroundModelCall),
  toolCall: compose(hooks, 'aroundToolCall', (h) => h.aroundToolCall),
});

/** What a hook threw, with its name: the records say whose code it was. */
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
  hooks: readonly Hook[],
  point: HookPoint,
  pick: (hook: Hook) => Around<Input, Output> | undefined,
): Composed<Input, Output> {
  const layers = hooks.flatMap((hook) => {
    const around = pick(hook);
    return around ? [{ name: hook.name, around: around.bind(hook) }] : [];
  });
  if (layers.length === 0) return null;
  return (input, inner, context) => {
    // what came from inside is passed on as it is; only a hook's own error gets its name
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

/** A hook that does not wait for `next` must not end the process when that rejects. */
function watched<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}
