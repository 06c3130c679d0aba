import type { Clock } from '../clock.ts';
import { ContinuationCriteria } from '../continuation/continuation-criteria.ts';
import type { LandingReserve } from '../continuation/criterion.ts';
import type { TimeLimit } from '../continuation/criteria/time-limit.ts';
import type { ErrorContextResolver } from '../continuation/error-context-resolver.ts';
import { ErrorPolicy, type ErrorPolicyJSON } from '../errors/error-policy.ts';
import type { Redactor } from '../errors/redactor.ts';
import type { InferenceDriver, ResponseFormat, ToolChoice } from '../inference/inference-driver.ts';
import type { ModelInput, ModelRegistry } from '../inference/model-registry.ts';
import type { PriceTable } from '../inference/prices.ts';
import type { CacheMark, CacheTtl } from '../messages/cache-mark.ts';
import type { AnySchema, OutputOf, ReadySchema } from '../tools/schema.ts';
import type { AnyTool, CallsOf, ToolSchema } from '../tools/tool.ts';
import type { AgentLimits, OwnCriterion } from './agent-criteria.ts';
import type { AgentState } from './agent-state.ts';
import type { CompactionOptions, CompactionSettings } from './compaction-options.ts';
import type { AgentModel, ModelChain } from './model-chain.ts';
import type { PrepareStep, StepPreparer } from './prepare-step.ts';
import type { AnyCapability, ComposedHooks, CriterionList, HookList } from './hooks.ts';
import type { ToolFinder } from './offered-tools.ts';
import type { AgentGuards } from './guard.ts';
import type { RunObserver } from './run-observer.ts';
import type { NamedSource } from './sourced-tools.ts';

/** Output type of an agent: the type of its response format, or text without one. */
export type Answer<Format> = Format extends AnySchema ? OutputOf<Format> : string;

/** A system prompt with a cache mark at its end, behind what capabilities add to it. */
export interface SystemPrompt {
  readonly text: string;
  readonly cache?: CacheMark;
}

/**
 * The options of an agent; {@link AgentBuilder} is the fluent form. Write them inline: `createAgent` infers the type
 * parameters from the values.
 */
export interface AgentOptions<
  Name extends string = string,
  Tools extends readonly AnyTool[] = readonly AnyTool[],
  Format extends AnySchema | undefined = AnySchema | undefined,
  HookDeps extends readonly unknown[] = readonly never[],
  CriterionDeps extends readonly unknown[] = readonly never[],
  Capabilities extends readonly AnyCapability[] = readonly AnyCapability[],
  PrepareDeps = never,
> {
  /** A driver, an AI SDK language model, or a name such as `openai:gpt-5`. */
  readonly model?: ModelInput;
  /** A driver. Takes precedence over `model`. */
  readonly driver?: InferenceDriver;
  /** Models to continue with, in this order, when a model fails. Each takes what `model` takes. */
  readonly fallback?: readonly ModelInput[];
  /** Registry that resolves model names. Default: the known providers. */
  readonly models?: ModelRegistry;
  /** Prices in dollars per million tokens. They override the built-in list. */
  readonly prices?: PriceTable;
  readonly name?: Name;
  /** The system prompt, or `{ text, cache }` with a cache mark at its end. */
  readonly systemPrompt?: string | SystemPrompt;
  readonly tools?: Tools;
  readonly toolChoice?: ToolChoice<NoInfer<CallsOf<Tools[number] | Capabilities[number]>['tool']>>;
  /** Names of the tools that the model sees. Default: all. `activeTools` of a run replaces it. */
  readonly activeTools?: readonly NoInfer<CallsOf<Tools[number] | Capabilities[number]>['tool']>[];
  /** Chooses tools, model and prompt of each step before its model call. */
  readonly prepareStep?: PrepareStep<
    NoInfer<CallsOf<Tools[number] | Capabilities[number]>['tool']>,
    PrepareDeps
  >;
  /** Most answered steps per execution. Default 20; null for no limit. */
  readonly maxSteps?: number | null;
  /** Most answered steps, nested agents included. Default if a tool is an agent: 5 × `maxSteps`; null for no limit. */
  readonly maxFamilySteps?: number | null;
  /** Most input and output tokens per execution. Default: no limit. */
  readonly maxTokens?: number | null;
  /** Most cost per execution; enforced if the price of the model is known. Default: no limit. */
  readonly maxCost?: number | null;
  /** Wall-clock time since the last run or resume. Default 300 seconds; null for no limit. */
  readonly timeout?: TimeLimit | null;
  /** Working time across pauses; replaces `timeout`. */
  readonly cumulativeTimeout?: TimeLimit | null;
  /** Default: stop on any error. In production, use `ErrorPolicy.production()`. */
  readonly errorPolicy?: ErrorPolicy | ErrorPolicyJSON;
  /** Reads the error that the policy evaluates. Default: the error of the newest step with the strictest handling. */
  readonly errorContextResolver?: ErrorContextResolver<AgentState>;
  /** Finish reasons that stop the run. Default `length` and `content_filter`; null for no check. */
  readonly finishReasons?: readonly string[] | null;
  /** Reserves the last step of a limit for an answer without tools. */
  readonly softLanding?: Partial<LandingReserve> | boolean;
  /** Compacts long conversations, so that they fit into the model. Default: off. */
  readonly compaction?: CompactionOptions | boolean;
  /** Whether each request states the budget used so far, behind the last message. */
  readonly budgetNote?: boolean;
  readonly criteria?: CriterionList<CriterionDeps, Answer<Format>>;
  readonly hooks?: HookList<HookDeps, Answer<Format>>;
  readonly capabilities?: Capabilities;
  /** Schema of the final answer, which has to be JSON; `state.output` is the validated value. */
  readonly responseFormat?: Format;
  readonly clock?: Clock;
  readonly redactor?: Redactor;
  /** Returns a number between 0 and 1 that varies the waits between retries. Default: `Math.random`. */
  readonly random?: () => number;
}

/** The options of an agent, prepared once so that a step does no setup. */
export interface AgentDefinition {
  readonly name: string;
  /** Dependencies bound by `withDeps`, or null. They take precedence over those of a run. */
  readonly deps: Readonly<Record<string, unknown>> | null;
  /** The model and its fallback. */
  readonly models: ModelChain;
  readonly systemPrompt: string | null;
  /** How long the cache mark at the end of the system prompt lasts. */
  readonly systemCache: CacheTtl | false;
  readonly tools: ReadonlyMap<string, AnyTool>;
  readonly toolNames: readonly string[];
  readonly toolNameSet: ReadonlySet<string>;
  readonly toolSchemas: readonly ToolSchema[];
  /** Capabilities whose tools are only known at run time. */
  readonly toolSources: readonly NamedSource[];
  /** Keeps tools out of the requests; null without one. */
  readonly toolFinder: ToolFinder | null;
  /** Guards of the capabilities; null without one, which costs nothing. */
  readonly guards: AgentGuards | null;
  /** Watches the runs; null without one, which costs nothing. */
  readonly observer: RunObserver | null;
  /** Capabilities that hold connections. */
  readonly closable: readonly AnyCapability[];
  /** Whether any of the tools is an agent. */
  readonly callsAgents: boolean;
  readonly toolChoice: ToolChoice;
  /** Names of the tools that a run offers by default; null for all. */
  readonly activeTools: readonly string[] | null;
  /** In the order in which they are asked; null without one, which costs nothing. */
  readonly preparers: readonly StepPreparer[] | null;
  /** Returns the model that a step chooses. */
  readonly modelOf: (input: ModelInput) => AgentModel;
  readonly criteria: ContinuationCriteria<AgentState>;
  /** The limits behind them. */
  readonly limits: AgentLimits;
  /** The criteria that are not those of the options, in their order. */
  readonly ownCriteria: readonly OwnCriterion[];
  /** The policy with the error options of the tools. */
  readonly errorPolicy: ErrorPolicy;
  /** Whether the agent has its own `errorContextResolver`. */
  readonly hasErrorResolver: boolean;
  /** Finish reasons that stop a run. */
  readonly finishReasons: readonly string[];
  readonly landingReserve: LandingReserve | null;
  readonly budgetNote: boolean;
  /** Null if conversations are not compacted, which costs nothing. */
  readonly compaction: CompactionSettings | null;
  readonly hooks: ComposedHooks;
  readonly hookNames: readonly string[];
  readonly response: { readonly format: ResponseFormat; readonly schema: ReadySchema } | null;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly random: () => number;
}

export const toolSchema = ({ name, description, jsonSchema, cache }: AnyTool): ToolSchema => ({
  name,
  description,
  parameters: jsonSchema,
  ...(cache && { cache }),
});
