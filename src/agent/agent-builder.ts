import type { Clock } from '../clock.ts';
import type { ContinuationCriterion, LandingReserve } from '../continuation/criterion.ts';
import type { TimeLimit } from '../continuation/criteria/time-limit.ts';
import type { ErrorContextResolver } from '../continuation/error-context-resolver.ts';
import { AgentError, invalidOption, positive, whole } from '../errors/agent-error.ts';
import type { ErrorPolicy, ErrorPolicyJSON } from '../errors/error-policy.ts';
import type { Redactor } from '../errors/redactor.ts';
import type { InferenceDriver, ToolChoice } from '../inference/inference-driver.ts';
import { driverOf, type ModelInput, type ModelRegistry } from '../inference/model-registry.ts';
import type { PriceTable } from '../inference/prices.ts';
import { isRecord } from '../json.ts';
import type { AnySchema } from '../tools/schema.ts';
import type { Tool } from '../tools/tool.ts';
import { createAgent, type Agent } from './agent.ts';
import type { AgentOptions } from './agent-options.ts';
import type { AgentState } from './agent-state.ts';
import type { Capability, Hook } from './hooks.ts';

/** Fluent spelling of {@link AgentOptions}. Immutable: keep a base builder and branch from it. */
export class AgentBuilder {
  readonly #options: Partial<AgentOptions>;

  private constructor(options: Partial<AgentOptions>) {
    this.#options = options;
  }

  /** With the defaults: 20 steps, 300 seconds, truncated answers end the run, any error ends the run. */
  static base(): AgentBuilder {
    return new AgentBuilder({});
  }

  /** Without limits; error policy, stop requests and the wish to go on after tool calls remain. */
  static new(): AgentBuilder {
    return new AgentBuilder({ maxSteps: null, timeout: null, finishReasons: null });
  }

  withName(name: string): AgentBuilder {
    return this.#with({ name });
  }
  withDriver(driver: InferenceDriver): AgentBuilder {
    return this.#with({ driver });
  }
  /** A model of one of our drivers, a language model of the AI SDK, or a name such as `openai:gpt-5`. */
  withModel(
    model: ModelInput,
    { registry }: { readonly registry?: ModelRegistry } = {},
  ): AgentBuilder {
    return this.#with({ driver: driverOf(model, registry) });
  }
  /** Dollars per million tokens, over the list that comes with the package. */
  withPrices(prices: PriceTable): AgentBuilder {
    return this.#with({ prices: { ...this.#options.prices, ...prices } });
  }
  withSystemPrompt(systemPrompt: string): AgentBuilder {
    return this.#with({ systemPrompt });
  }
  /** Adds to the tools there are. */
  withTools(...tools: readonly Tool[]): AgentBuilder {
    return this.#with({ tools: [...(this.#options.tools ?? []), ...tools] });
  }
  withToolChoice(toolChoice: ToolChoice): AgentBuilder {
    return this.#with({ toolChoice });
  }
  /** Answered steps per execution; failed model calls are bounded by the error policy. */
  withMaxSteps(maxSteps: number): AgentBuilder {
    return this.#with({ maxSteps: whole('withMaxSteps', maxSteps) });
  }
  /** Answered steps of the agent and all agents behind its calls together; default 5 times `withMaxSteps`. */
  withMaxFamilySteps(maxFamilySteps: number): AgentBuilder {
    return this.#with({ maxFamilySteps: whole('withMaxFamilySteps', maxFamilySteps) });
  }
  withMaxTokens(maxTokens: number): AgentBuilder {
    return this.#with({ maxTokens: positive('withMaxTokens', maxTokens) });
  }
  withMaxCost(maxCost: number): AgentBuilder {
    return this.#with({ maxCost: positive('withMaxCost', maxCost) });
  }
  /** Wall clock since the last run or resume; cuts a hanging call. */
  withTimeout(timeout: TimeLimit): AgentBuilder {
    return this.#with({ timeout: seconds('withTimeout', timeout), cumulativeTimeout: null });
  }
  /** Working time across pauses, in place of the wall clock. */
  withCumulativeTimeout(timeout: TimeLimit): AgentBuilder {
    return this.#with({ cumulativeTimeout: seconds('withCumulativeTimeout', timeout) });
  }
  withErrorPolicy(
    errorPolicy: ErrorPolicy | ErrorPolicyJSON,
    { resolver }: { readonly resolver?: ErrorContextResolver<AgentState> } = {},
  ): AgentBuilder {
    return this.#with({ errorPolicy, ...(resolver ? { errorContextResolver: resolver } : null) });
  }
  /** Finish reasons that end a run on an answer without tool calls. */
  withFinishReasons(...finishReasons: readonly (string | readonly string[])[]): AgentBuilder {
    return this.#with({ finishReasons: finishReasons.flat() });
  }
  /** Keeps the last step of a limit for an answer without tools. */
  withSoftLanding(reserve: Partial<LandingReserve> = {}): AgentBuilder {
    return this.#with({ softLanding: reserve });
  }
  /** Tells the model before each step what is left of its budget. */
  withBudgetNote(budgetNote: boolean = true): AgentBuilder {
    return this.#with({ budgetNote });
  }
  addContinuationCriteria(...criteria: readonly ContinuationCriterion<AgentState>[]): AgentBuilder {
    return this.#with({ criteria: [...(this.#options.criteria ?? []), ...criteria] });
  }
  withHooks(...hooks: readonly Hook[]): AgentBuilder {
    return this.#with({ hooks: [...(this.#options.hooks ?? []), ...hooks] });
  }
  withCapability(...capabilities: readonly Capability[]): AgentBuilder {
    const all = [...(this.#options.capabilities ?? []), ...capabilities];
    return this.#with({ capabilities: all });
  }
  /** The final answer has to be JSON of this schema; `state.output` is the validated value. */
  withResponseFormat(responseFormat: AnySchema): AgentBuilder {
    return this.#with({ responseFormat });
  }
  withClock(clock: Clock): AgentBuilder {
    return this.#with({ clock });
  }
  withRedactor(redactor: Redactor): AgentBuilder {
    return this.#with({ redactor });
  }

  build(): Agent {
    const { driver, ...rest } = this.#options;
    if (!driver)
      throw new AgentError(
        'driver_missing',
        'AgentBuilder.build() needs a model. Call .withModel(...) or .withDriver(...) first.',
      );
    return createAgent({ driver, ...rest });
  }

  #with(patch: Partial<AgentOptions>): AgentBuilder {
    return new AgentBuilder({ ...this.#options, ...patch });
  }
}

/** A bare number would leave the unit to memory. */
function seconds(option: string, limit: TimeLimit): TimeLimit {
  if (!isRecord(limit)) throw invalidOption(option, limit, '{ seconds: <number> }');
  positive(`${option} seconds`, limit.seconds);
  return limit;
}
