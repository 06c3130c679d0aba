import type { Clock } from '../clock.ts';
import { ContinuationCriteria } from '../continuation/continuation-criteria.ts';
import type { LandingReserve } from '../continuation/criterion.ts';
import type { TimeLimit } from '../continuation/criteria/time-limit.ts';
import type { ErrorContextResolver } from '../continuation/error-context-resolver.ts';
import { ErrorPolicy, type ErrorPolicyJSON } from '../errors/error-policy.ts';
import type { Redactor } from '../errors/redactor.ts';
import type { InferenceDriver, ResponseFormat, ToolChoice } from '../inference/inference-driver.ts';
import type { ModelInput, ModelRegistry } from '../inference/model-registry.ts';
import type { Price, PriceTable } from '../inference/prices.ts';
import type { AnySchema, OutputOf, ReadySchema } from '../tools/schema.ts';
import type { AnyTool, CallsOf, ToolSchema } from '../tools/tool.ts';
import type { AgentState } from './agent-state.ts';
import type { AnyCapability, ComposedHooks, CriterionList, HookList } from './hooks.ts';

/** The output of an agent: by its response format, and text without one. */
export type Answer<Format> = Format extends AnySchema ? OutputOf<Format> : string;

/**
 * The options of an agent; {@link AgentBuilder} is the fluent form. Write them in place: `createAgent` reads the type
 * parameters back from what you give.
 */
export interface AgentOptions<
  Name extends string = string,
  Tools extends readonly AnyTool[] = readonly AnyTool[],
  Format extends AnySchema | undefined = AnySchema | undefined,
  HookDeps extends readonly unknown[] = readonly never[],
  CriterionDeps extends readonly unknown[] = readonly never[],
  Capabilities extends readonly AnyCapability[] = readonly AnyCapability[],
> {
  /** A driver, a language model of the AI SDK, or a name such as `openai:gpt-5`. */
  readonly model?: ModelInput;
  /** The same, for drivers alone. */
  readonly driver?: InferenceDriver;
  /** Finds models by name; default: the known providers. */
  readonly models?: ModelRegistry;
  /** Dollars per million tokens, over the list that comes with the package. */
  readonly prices?: PriceTable;
  readonly name?: Name;
  readonly systemPrompt?: string;
  readonly tools?: Tools;
  readonly toolChoice?: ToolChoice<NoInfer<CallsOf<Tools[number] | Capabilities[number]>['tool']>>;
  /** Default 20; null for none. */
  readonly maxSteps?: number | null;
  /** Of the agent and all agents behind its calls together. Default, where it has such: 5 × `maxSteps`; null for none. */
  readonly maxFamilySteps?: number | null;
  /** Of an execution, input and output together. Default: no limit. */
  readonly maxTokens?: number | null;
  /** Of an execution; binds where the price of the model is known. Default: no limit. */
  readonly maxCost?: number | null;
  /** Wall clock since the last run or resume. Default 300 seconds; null for none. */
  readonly timeout?: TimeLimit | null;
  /** Working time across pauses; takes the place of `timeout`. */
  readonly cumulativeTimeout?: TimeLimit | null;
  /** Default: stop on any error. */
  readonly errorPolicy?: ErrorPolicy | ErrorPolicyJSON;
  /** What of a state the policy judges. Default: the worst error of the newest step. */
  readonly errorContextResolver?: ErrorContextResolver<AgentState>;
  /** Default `length` and `content_filter`; null for no check. */
  readonly finishReasons?: readonly string[] | null;
  /** Keeps the last step of a limit for an answer without tools. */
  readonly softLanding?: Partial<LandingReserve> | boolean;
  /** Tells the model before each step what is left of its budget. */
  readonly budgetNote?: boolean;
  readonly criteria?: CriterionList<CriterionDeps, Answer<Format>>;
  readonly hooks?: HookList<HookDeps, Answer<Format>>;
  readonly capabilities?: Capabilities;
  /** The final answer has to be JSON of this schema; `state.output` is the validated value. */
  readonly responseFormat?: Format;
  readonly clock?: Clock;
  readonly redactor?: Redactor;
  /** Between 0 and 1; spreads the waits between retries. */
  readonly random?: () => number;
}

/** The options made ready once, so that a step only runs. */
export interface AgentDefinition {
  readonly name: string;
  /** Dependencies that `withDeps` has bound; null where there are none. They take precedence over those of a run. */
  readonly deps: Readonly<Record<string, unknown>> | null;
  readonly driver: InferenceDriver;
  readonly systemPrompt: string | null;
  readonly tools: ReadonlyMap<string, AnyTool>;
  readonly toolNames: readonly string[];
  readonly toolNameSet: ReadonlySet<string>;
  readonly toolSchemas: readonly ToolSchema[];
  /** Whether any of the tools is an agent. */
  readonly callsAgents: boolean;
  readonly toolChoice: ToolChoice;
  readonly criteria: ContinuationCriteria<AgentState>;
  readonly errorPolicy: ErrorPolicy;
  /** Finish reasons that end a run by themselves. */
  readonly finishReasons: readonly string[];
  readonly landingReserve: LandingReserve | null;
  readonly budgetNote: boolean;
  readonly hooks: ComposedHooks;
  readonly hookNames: readonly string[];
  readonly response: { readonly format: ResponseFormat; readonly schema: ReadySchema } | null;
  /** Null when the price of the model is not known. */
  readonly price: Price | null;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly random: () => number;
}
