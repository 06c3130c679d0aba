import { systemClock, type Clock } from '../clock.ts';
import { ContinuationCriteria } from '../continuation/continuation-criteria.ts';
import type { ContinuationCriterion, LandingReserve } from '../continuation/criterion.ts';
import { costLimit } from '../continuation/criteria/cost-limit.ts';
import { errorPolicyCriterion } from '../continuation/criteria/error-policy-criterion.ts';
import { finishReasonCheck } from '../continuation/criteria/finish-reason-check.ts';
import { familyStepsLimit, stepsLimit } from '../continuation/criteria/steps-limit.ts';
import { stopRequestCheck } from '../continuation/criteria/stop-request-check.ts';
import {
  cumulativeExecutionTimeLimit,
  executionTimeLimit,
  type TimeLimit,
} from '../continuation/criteria/time-limit.ts';
import { tokenUsageLimit } from '../continuation/criteria/token-usage-limit.ts';
import { toolCallPresenceCheck } from '../continuation/criteria/tool-call-presence-check.ts';
import type { ErrorContextResolver } from '../continuation/error-context-resolver.ts';
import { AgentError, invalidOption, positive, show } from '../errors/agent-error.ts';
import { ErrorPolicy, type ErrorPolicyJSON } from '../errors/error-policy.ts';
import { defaultRedactor, type Redactor } from '../errors/redactor.ts';
import type { InferenceDriver, ResponseFormat, ToolChoice } from '../inference/inference-driver.ts';
import { driverOf, type ModelInput, type ModelRegistry } from '../inference/model-registry.ts';
import { checkedPrices, priceOf, type Price, type PriceTable } from '../inference/prices.ts';
import { isRecord } from '../json.ts';
import { readySchema, type AnySchema, type ReadySchema } from '../tools/schema.ts';
import type { Tool, ToolSchema } from '../tools/tool.ts';
import type { AgentState } from './agent-state.ts';
import { composeHooks, type Capability, type ComposedHooks, type Hook } from './hooks.ts';

/** Everything an agent can be told; {@link AgentBuilder} is the fluent spelling. */
export interface AgentOptions {
  /** A driver, a language model of the AI SDK, or a name such as `openai:gpt-5`. */
  readonly model?: ModelInput;
  /** The same, for drivers alone. */
  readonly driver?: InferenceDriver;
  /** Finds models by name; default: the known providers. */
  readonly models?: ModelRegistry;
  /** Dollars per million tokens, over the list that comes with the package. */
  readonly prices?: PriceTable;
  readonly name?: string;
  readonly systemPrompt?: string;
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
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
  readonly criteria?: readonly ContinuationCriterion<AgentState>[];
  readonly hooks?: readonly Hook[];
  readonly capabilities?: readonly Capability[];
  /** The final answer has to be JSON of this schema; `state.output` is the validated value. */
  readonly responseFormat?: AnySchema;
  readonly clock?: Clock;
  readonly redactor?: Redactor;
  /** Between 0 and 1; spreads the waits between retries. */
  readonly random?: () => number;
}

/** The options made ready once, so that a step only runs. */
export interface AgentDefinition {
  readonly name: string;
  readonly driver: InferenceDriver;
  readonly systemPrompt: string | null;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly toolNames: readonly string[];
  readonly toolNameSet: ReadonlySet<string>;
  readonly toolSchemas: readonly ToolSchema[];
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

const DEFAULT_MAX_STEPS = 20;
/** Times `maxSteps`. */
const DEFAULT_FAMILY_STEPS = 5;
const DEFAULT_TIMEOUT: TimeLimit = { seconds: 300 };
const DEFAULT_FINISH_REASONS: readonly string[] = ['length', 'content_filter'];
const DEFAULT_RESERVE: LandingReserve = { tokens: 2_000, seconds: 20 };

export function defineAgent(options: AgentOptions): AgentDefinition {
  const { name = 'agent', toolChoice = 'auto', capabilities = [] } = options;
  const driver = driverOf(options.driver ?? (options.model as ModelInput), options.models); // driverOf refuses undefined
  if (typeof name !== 'string' || name === '') throw invalidOption('withName', name, 'a name');
  for (const capability of capabilities)
    if (typeof capability?.name !== 'string')
      throw invalidOption('withCapability', capability, 'capabilities with a name');
  const tools = indexTools([
    ...(options.tools ?? []),
    ...capabilities.flatMap((c) => c.tools ?? []),
  ]);
  checkToolChoice(toolChoice, tools);
  const hooks = [...(options.hooks ?? []), ...capabilities.flatMap((c) => c.hooks ?? [])];
  for (const hook of hooks)
    if (typeof hook?.name !== 'string') throw invalidOption('withHooks', hook, 'hooks with a name');
  const prompts = [options.systemPrompt, ...capabilities.map((c) => c.systemPrompt)];
  const errorPolicy = ErrorPolicy.from(options.errorPolicy ?? ErrorPolicy.stopOnAnyError());
  return Object.freeze({
    name,
    driver,
    systemPrompt: prompts.filter(Boolean).join('\n\n') || null,
    tools,
    toolNames: [...tools.keys()],
    toolNameSet: new Set(tools.keys()),
    toolSchemas: Array.from(tools.values(), toolSchema),
    toolChoice,
    criteria: criteriaOf(options, errorPolicy, tools),
    errorPolicy,
    finishReasons: finishReasonsOf(options),
    landingReserve: reserveOf(options.softLanding),
    budgetNote: options.budgetNote ?? false,
    hooks: composeHooks(hooks),
    hookNames: hooks.map((hook) => hook.name),
    response: responseOf(options.responseFormat),
    price: priceOf(driver.model, checkedPrices(options.prices ?? {})),
    clock: options.clock ?? systemClock,
    redactor: options.redactor ?? defaultRedactor,
    random: options.random ?? Math.random,
  });
}

/** Limits first, then the checks, then the user's own: the order in which `explain()` lists the voices. */
function criteriaOf(
  options: AgentOptions,
  errorPolicy: ErrorPolicy,
  tools: ReadonlyMap<string, Tool>,
): ContinuationCriteria<AgentState> {
  const { maxSteps, maxTokens, maxCost, timeout, cumulativeTimeout, finishReasons } = options;
  const list: ContinuationCriterion<AgentState>[] = [];
  if (maxSteps !== null) list.push(stepsLimit(maxSteps ?? DEFAULT_MAX_STEPS));
  const familySteps = familyStepsOf(options, tools);
  if (familySteps !== null) list.push(familyStepsLimit(familySteps));
  if (maxTokens != null) list.push(tokenUsageLimit(maxTokens));
  if (maxCost != null) list.push(costLimit(maxCost));
  if (cumulativeTimeout != null) list.push(cumulativeExecutionTimeLimit(cumulativeTimeout));
  else if (timeout !== null) list.push(executionTimeLimit(timeout ?? DEFAULT_TIMEOUT));
  if (finishReasons !== null) list.push(finishReasonCheck(finishReasonsOf(options)));
  list.push(errorPolicyCriterion(errorPolicy, options.errorContextResolver));
  list.push(stopRequestCheck(), toolCallPresenceCheck());
  const own = [
    ...(options.criteria ?? []),
    ...(options.capabilities ?? []).flatMap((c) => c.criteria ?? []),
  ];
  return ContinuationCriteria.from(...list, ...own);
}

/** An agent that calls no others has no family: its own steps are all there are. */
function familyStepsOf(
  { maxSteps = DEFAULT_MAX_STEPS, maxFamilySteps }: AgentOptions,
  tools: ReadonlyMap<string, Tool>,
): number | null {
  if (maxFamilySteps !== undefined) return maxFamilySteps;
  const hasFamily = [...tools.values()].some(({ agent }) => agent !== undefined);
  return hasFamily && maxSteps !== null ? DEFAULT_FAMILY_STEPS * maxSteps : null;
}

const finishReasonsOf = ({ finishReasons }: AgentOptions): readonly string[] =>
  finishReasons === null ? [] : (finishReasons ?? DEFAULT_FINISH_REASONS);

function indexTools(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const index = new Map<string, Tool>();
  for (const tool of tools) {
    if (typeof tool?.name !== 'string' || typeof tool.check !== 'function')
      throw new AgentError(
        'invalid_tool',
        `withTools got ${show(tool)}, expected what defineTool() or agent.asTool() returns.`,
      );
    if (index.has(tool.name))
      throw new AgentError(
        'duplicate_tool',
        `Two tools are named "${tool.name}". The model calls tools by name: rename one of them.`,
        { details: { name: tool.name } },
      );
    index.set(tool.name, tool);
  }
  return index;
}

function checkToolChoice(choice: ToolChoice, tools: ReadonlyMap<string, Tool>): void {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return;
  if (isRecord(choice) && tools.has(choice.tool)) return;
  const known = [...tools.keys()].join(', ') || 'none';
  throw invalidOption(
    'withToolChoice',
    isRecord(choice) ? choice.tool : choice,
    `'auto', 'none', 'required' or { tool } with one of: ${known}`,
  );
}

function reserveOf(softLanding: AgentOptions['softLanding']): LandingReserve | null {
  if (softLanding === undefined || softLanding === false) return null;
  const { tokens, seconds } = { ...DEFAULT_RESERVE, ...(softLanding === true ? {} : softLanding) };
  return {
    tokens: positive('withSoftLanding tokens', tokens),
    seconds: positive('withSoftLanding seconds', seconds),
  };
}

function responseOf(schema: AnySchema | undefined): AgentDefinition['response'] {
  if (schema === undefined) return null;
  const ready = readySchema('withResponseFormat', schema);
  return { format: { name: 'response', schema: ready.jsonSchema }, schema: ready };
}

const toolSchema = ({ name, description, jsonSchema }: Tool): ToolSchema => ({
  name,
  description,
  parameters: jsonSchema,
});
