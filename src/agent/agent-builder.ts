import type { Clock } from '../clock.ts';
import type { LandingReserve } from '../continuation/criterion.ts';
import type { TimeLimit } from '../continuation/criteria/time-limit.ts';
import type { ErrorContextResolver } from '../continuation/error-context-resolver.ts';
import { AgentError } from '../errors/agent-error.ts';
import type { ErrorPolicy, ErrorPolicyJSON } from '../errors/error-policy.ts';
import type { Redactor } from '../errors/redactor.ts';
import type { InferenceDriver, ToolChoice } from '../inference/inference-driver.ts';
import { driverOf, type ModelInput, type ModelRegistry } from '../inference/model-registry.ts';
import type { PriceTable } from '../inference/prices.ts';
import type { AnySchema, OutputOf } from '../tools/schema.ts';
import type { AllOf, AnyTool, Call, CallsOf, DepsOf } from '../tools/tool.ts';
import { agentOf, type Agent } from './agent.ts';
import type { AgentOptions } from './agent-options.ts';
import type { AgentState } from './agent-state.ts';
import { builderName, checkLimit, type LimitOption } from './check-options.ts';
import type { AnyCapability, CriterionList, HookList } from './hooks.ts';

/** Fluent form of {@link AgentOptions}. Immutable: keep a base builder and branch from it. Every step keeps the types. */
export class AgentBuilder<
  Deps = {},
  Output = unknown,
  Name extends string = string,
  C extends Call = Call,
> {
  readonly #options: Partial<AgentOptions>;

  private constructor(options: Partial<AgentOptions>) {
    this.#options = options;
  }

  /** With the defaults: 20 steps, 300 seconds, truncated answers end the run, any error ends the run. */
  static base(): AgentBuilder<{}, string, 'agent', never> {
    return new AgentBuilder({});
  }

  /** No limits; error policy, stop requests and the request to continue after tool calls remain. */
  static new(): AgentBuilder<{}, string, 'agent', never> {
    return new AgentBuilder({ maxSteps: null, timeout: null, finishReasons: null });
  }

  withName<const N extends string>(name: N): AgentBuilder<Deps, Output, N, C> {
    return this.#with({ name });
  }
  withDriver(driver: InferenceDriver): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ driver });
  }
  /** A model of one of our drivers, a language model of the AI SDK, or a name such as `openai:gpt-5`. */
  withModel(
    model: ModelInput,
    { registry }: { readonly registry?: ModelRegistry } = {},
  ): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ driver: driverOf(model, registry) });
  }
  /** Dollars per million tokens, over the list that comes with the package. */
  withPrices(prices: PriceTable): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ prices: { ...this.#options.prices, ...prices } });
  }
  withSystemPrompt(systemPrompt: string): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ systemPrompt });
  }
  /** Adds to the tools there are. */
  withTools<const T extends readonly AnyTool[]>(
    ...tools: T
  ): AgentBuilder<Deps & DepsOf<T[number]>, Output, Name, C | CallsOf<T[number]>> {
    return this.#with({ tools: [...(this.#options.tools ?? []), ...tools] });
  }
  /** Takes the names of the tools so far. */
  withToolChoice(toolChoice: ToolChoice<C['tool']>): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ toolChoice });
  }
  /** Answered steps per execution; failed model calls are bounded by the error policy. */
  withMaxSteps(maxSteps: number): AgentBuilder<Deps, Output, Name, C> {
    return this.#limit('maxSteps', maxSteps);
  }
  /** Answered steps of the agent and all agents behind its calls together; default 5 times `withMaxSteps`. */
  withMaxFamilySteps(maxFamilySteps: number): AgentBuilder<Deps, Output, Name, C> {
    return this.#limit('maxFamilySteps', maxFamilySteps);
  }
  withMaxTokens(maxTokens: number): AgentBuilder<Deps, Output, Name, C> {
    return this.#limit('maxTokens', maxTokens);
  }
  withMaxCost(maxCost: number): AgentBuilder<Deps, Output, Name, C> {
    return this.#limit('maxCost', maxCost);
  }
  /** Wall clock since the last run or resume; cuts a hanging call. */
  withTimeout(timeout: TimeLimit): AgentBuilder<Deps, Output, Name, C> {
    return this.#limit('timeout', timeout, { cumulativeTimeout: null });
  }
  /** Working time across pauses, in place of the wall clock. */
  withCumulativeTimeout(timeout: TimeLimit): AgentBuilder<Deps, Output, Name, C> {
    return this.#limit('cumulativeTimeout', timeout);
  }
  withErrorPolicy(
    errorPolicy: ErrorPolicy | ErrorPolicyJSON,
    { resolver }: { readonly resolver?: ErrorContextResolver<AgentState> } = {},
  ): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ errorPolicy, ...(resolver ? { errorContextResolver: resolver } : null) });
  }
  /** Finish reasons that end a run on an answer without tool calls. */
  withFinishReasons(
    ...finishReasons: readonly (string | readonly string[])[]
  ): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ finishReasons: finishReasons.flat() });
  }
  /** Keeps the last step of a limit for an answer without tools. */
  withSoftLanding(reserve: Partial<LandingReserve> = {}): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ softLanding: reserve });
  }
  /** Tells the model before each step what is left of its budget. */
  withBudgetNote(budgetNote: boolean = true): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ budgetNote });
  }
  /** Comes after `withResponseFormat` where a criterion is typed for that output. */
  addContinuationCriteria<const D extends readonly unknown[]>(
    ...criteria: CriterionList<D, Output>
  ): AgentBuilder<Deps & AllOf<D>, Output, Name, C> {
    return this.#with({
      criteria: [...(this.#options.criteria ?? []), ...(criteria as readonly never[])],
    });
  }
  withHooks<const D extends readonly unknown[]>(
    ...hooks: HookList<D, Output>
  ): AgentBuilder<Deps & AllOf<D>, Output, Name, C> {
    return this.#with({ hooks: [...(this.#options.hooks ?? []), ...(hooks as readonly never[])] });
  }
  withCapability<const K extends readonly AnyCapability[]>(
    ...capabilities: K
  ): AgentBuilder<Deps & DepsOf<K[number]>, Output, Name, C | CallsOf<K[number]>> {
    const all = [...(this.#options.capabilities ?? []), ...capabilities];
    return this.#with({ capabilities: all });
  }
  /** The final answer has to be JSON of this schema; `state.output` is the validated value. */
  withResponseFormat<const S extends AnySchema>(
    responseFormat: S,
  ): AgentBuilder<Deps, OutputOf<S>, Name, C> {
    return this.#with({ responseFormat });
  }
  withClock(clock: Clock): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ clock });
  }
  withRedactor(redactor: Redactor): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ redactor });
  }

  build(): Agent<Deps, Output, Name, C> {
    const { driver, ...rest } = this.#options;
    if (!driver)
      throw new AgentError(
        'driver_missing',
        'AgentBuilder.build() needs a model. Call .withModel(...) or .withDriver(...) first.',
      );
    return agentOf({ driver, ...rest }, builderName) as never; // the steps have kept its types
  }

  #limit(option: LimitOption, value: unknown, more: Partial<AgentOptions> = {}): never {
    checkLimit(option, value, builderName);
    return this.#with({ [option]: value, ...more });
  }

  /** Each step says which type comes next. */
  #with(patch: Partial<AgentOptions>): never {
    return new AgentBuilder({ ...this.#options, ...patch }) as never;
  }
}
