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
import type { AgentOptions, SystemPrompt } from './agent-options.ts';
import type { AgentState } from './agent-state.ts';
import { builderMethods, checkOption } from './check-options.ts';
import type { CompactionOptions } from './compaction-options.ts';
import type { AnyCapability, CriterionList, HookList } from './hooks.ts';
import type { PrepareStep } from './prepare-step.ts';

/** Fluent form of {@link AgentOptions}. Immutable, so you can keep a base builder and branch from it. */
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

  /** Returns a builder with the defaults: 20 steps, 300 seconds; truncated answers and all errors end the run. */
  static base(): AgentBuilder<{}, string, 'agent', never> {
    return new AgentBuilder({});
  }

  /** Returns a builder without limits. The error policy, stop requests and tool call checks remain. */
  static new(): AgentBuilder<{}, string, 'agent', never> {
    return new AgentBuilder({ maxSteps: null, timeout: null, finishReasons: null });
  }

  withName<const N extends string>(name: N): AgentBuilder<Deps, Output, N, C> {
    return this.#with({ name });
  }
  withDriver(driver: InferenceDriver): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ driver });
  }
  /** Sets the model: a driver, an AI SDK language model, or a name such as `openai:gpt-5`. */
  withModel(
    model: ModelInput,
    { registry }: { readonly registry?: ModelRegistry } = {},
  ): AgentBuilder<Deps, Output, Name, C> {
    checkOption('model', model, builderMethods);
    if (registry !== undefined) checkOption('models', registry, builderMethods);
    const driver = driverOf(model, registry);
    return this.#with(registry === undefined ? { driver } : { driver, models: registry });
  }
  /** Sets the models to continue with, in this order, when a model fails. The registry of `withModel` resolves names. */
  withFallback(...fallback: readonly ModelInput[]): AgentBuilder<Deps, Output, Name, C> {
    checkOption('fallback', fallback, builderMethods);
    return this.#with({ fallback });
  }
  /** Sets prices in dollars per million tokens. They override the built-in list. */
  withPrices(prices: PriceTable): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ prices: { ...this.#options.prices, ...prices } });
  }
  /** Sets the system prompt: a text, or `{ text, cache }` with a cache mark at its end. */
  withSystemPrompt(systemPrompt: string | SystemPrompt): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ systemPrompt });
  }
  /** Adds tools to those already set. */
  withTools<const T extends readonly AnyTool[]>(
    ...tools: T
  ): AgentBuilder<Deps & DepsOf<T[number]>, Output, Name, C | CallsOf<T[number]>> {
    return this.#with({ tools: [...(this.#options.tools ?? []), ...tools] });
  }
  /** Sets which tools the model may or must call. Add the tools first, because their names are typed. */
  withToolChoice(toolChoice: ToolChoice<C['tool']>): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ toolChoice });
  }
  /** Sets the tools that the model sees. Default: all. Add the tools first, because their names are typed. */
  withActiveTools(...activeTools: readonly C['tool'][]): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ activeTools });
  }
  /** Sets what chooses tools, model and prompt of each step. Add the tools first, because their names are typed. */
  withPrepareStep<D = unknown>(
    prepareStep: PrepareStep<C['tool'], D>,
  ): AgentBuilder<Deps & AllOf<readonly [D]>, Output, Name, C> {
    return this.#with({ prepareStep: prepareStep });
  }
  /** Limits the answered steps per execution. The error policy bounds failed model calls. */
  withMaxSteps(maxSteps: number): AgentBuilder<Deps, Output, Name, C> {
    return this.#limit('maxSteps', maxSteps);
  }
  /** Limits the answered steps of the agent and all its nested agents together. Default: 5 × `withMaxSteps`. */
  withMaxFamilySteps(maxFamilySteps: number): AgentBuilder<Deps, Output, Name, C> {
    return this.#limit('maxFamilySteps', maxFamilySteps);
  }
  withMaxTokens(maxTokens: number): AgentBuilder<Deps, Output, Name, C> {
    return this.#limit('maxTokens', maxTokens);
  }
  withMaxCost(maxCost: number): AgentBuilder<Deps, Output, Name, C> {
    return this.#limit('maxCost', maxCost);
  }
  /** Limits the wall-clock time since the last run or resume, and interrupts a hanging call. */
  withTimeout(timeout: TimeLimit): AgentBuilder<Deps, Output, Name, C> {
    return this.#limit('timeout', timeout, { cumulativeTimeout: null });
  }
  /** Limits the working time across pauses, in place of the wall-clock limit. */
  withCumulativeTimeout(timeout: TimeLimit): AgentBuilder<Deps, Output, Name, C> {
    return this.#limit('cumulativeTimeout', timeout);
  }
  withErrorPolicy(
    errorPolicy: ErrorPolicy | ErrorPolicyJSON,
    { resolver }: { readonly resolver?: ErrorContextResolver<AgentState> } = {},
  ): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ errorPolicy, ...(resolver ? { errorContextResolver: resolver } : null) });
  }
  /** Sets the finish reasons that stop a run after an answer without tool calls. */
  withFinishReasons(
    ...finishReasons: readonly (string | readonly string[])[]
  ): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ finishReasons: finishReasons.flat() });
  }
  /** Reserves the last step of a limit for an answer without tools. */
  withSoftLanding(reserve: Partial<LandingReserve> = {}): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ softLanding: reserve });
  }
  /** Compacts a long conversation so that it fits into the model: first results of tools, then whole turns. */
  withCompaction(compaction: CompactionOptions = {}): AgentBuilder<Deps, Output, Name, C> {
    checkOption('compaction', compaction, builderMethods);
    return this.#with({ compaction });
  }
  /** Adds the budget used so far to each request, behind the last message. */
  withBudgetNote(budgetNote: boolean = true): AgentBuilder<Deps, Output, Name, C> {
    return this.#with({ budgetNote });
  }
  /** Adds criteria. Call it after `withResponseFormat` if a criterion is typed for that output. */
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
  /** Requires the final answer to be JSON that matches the schema; `state.output` is the validated value. */
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
    return agentOf({ driver, ...rest }, builderMethods) as never; // typed by the builder methods
  }

  #limit(option: keyof AgentOptions, value: unknown, more: Partial<AgentOptions> = {}): never {
    checkOption(option, value, builderMethods);
    return this.#with({ [option]: value, ...more });
  }

  /** Returns `never`, so that each method can declare the type of the next builder. */
  #with(patch: Partial<AgentOptions>): never {
    return new AgentBuilder({ ...this.#options, ...patch }) as never;
  }
}
