import { systemClock } from '../clock.ts';
import type { ContinuationCriterion, LandingReserve } from '../continuation/criterion.ts';
import type { TimeLimit } from '../continuation/criteria/time-limit.ts';
import { AgentError, invalidOption } from '../errors/agent-error.ts';
import { ErrorPolicy } from '../errors/error-policy.ts';
import { defaultRedactor } from '../errors/redactor.ts';
import type { ToolChoice } from '../inference/inference-driver.ts';
import { driverOf } from '../inference/model-registry.ts';
import { isRecord } from '../json.ts';
import { ttlOf } from '../messages/cache-mark.ts';
import { readySchema, type AnySchema } from '../tools/schema.ts';
import type { AnyTool } from '../tools/tool.ts';
import { agentCriteria, type AgentLimits } from './agent-criteria.ts';
import type { AgentState } from './agent-state.ts';
import { checkOptions, plainOptions, type OptionStyle } from './check-options.ts';
import { compactionSettings } from './compaction-options.ts';
import { earlierResultTool } from './earlier-results.ts';
import type { GuardPoint } from './guard.ts';
import { modelChain, modelPicker } from './model-chain.ts';
import { offeredTools, type OfferedTools } from './offered-tools.ts';
import type { StepPreparer } from './prepare-step.ts';
import { composeHooks, type AnyCapability } from './hooks.ts';
import {
  toolSchema,
  type AgentDefinition,
  type AgentOptions,
  type SystemPrompt,
} from './agent-options.ts';

const DEFAULT_MAX_STEPS = 20;
/** Multiple of `maxSteps`. */
const DEFAULT_FAMILY_STEPS = 5;
const DEFAULT_TIMEOUT: TimeLimit = { seconds: 300 };
const DEFAULT_FINISH_REASONS: readonly string[] = ['length', 'content_filter'];
const DEFAULT_RESERVE: LandingReserve = { tokens: 2_000, seconds: 20 };

export function defineAgent(
  options: AgentOptions,
  style: OptionStyle = plainOptions,
): AgentDefinition {
  checkOptions(options, style);
  const { name = 'agent', toolChoice = 'auto', capabilities = [] } = options;
  const model = options.driver ?? options.model;
  if (model === undefined)
    throw new AgentError('driver_missing', 'createAgent() needs a model. Set model or driver.');
  const driver = driverOf(model, options.models);
  const fallback = (options.fallback ?? []).map((one) => driverOf(one, options.models));
  const ownTools = [
    ...(options.tools ?? []),
    ...capabilities.flatMap((c) => (typeof c.tools === 'function' ? [] : (c.tools ?? []))),
  ];
  const hasTools = ownTools.length > 0 || capabilities.some((c) => typeof c.tools === 'function');
  // from the first step on, so that the tools never change
  const tools = indexTools(
    options.compaction && hasTools ? [...ownTools, earlierResultTool] : ownTools,
  );
  const toolSources = capabilities.flatMap(({ name: source, tools: load }) =>
    typeof load === 'function' ? [{ name: source, load }] : [],
  );
  if (toolSources.length === 0) checkToolChoice(toolChoice, tools, style);
  const hooks = [...(options.hooks ?? []), ...capabilities.flatMap((c) => c.hooks ?? [])];
  const toolNames = [...tools.keys()];
  const offered: OfferedTools = {
    tools,
    toolNames,
    toolNameSet: new Set(toolNames),
    toolSchemas: Array.from(tools.values(), toolSchema),
    toolChoice,
  };
  // checks the names
  offeredTools(offered, options.activeTools, toolSources.length > 0, style.name('activeTools'));
  const models = modelChain(driver, fallback, options.prices);
  const modelOf = modelPicker(models, options.models, options.prices);
  const { text, cache } = promptOf(options.systemPrompt);
  const prompts = [text, ...capabilities.map((c) => c.systemPrompt)];
  const policy = ErrorPolicy.from(options.errorPolicy ?? ErrorPolicy.stopOnAnyError());
  const errorPolicy = policy.forTools(tools.values());
  const limits = limitsOf(options, tools);
  const own = ownCriteriaOf(options);
  return Object.freeze({
    name,
    deps: null,
    models,
    modelOf,
    systemPrompt: prompts.filter(Boolean).join('\n\n') || null,
    systemCache: ttlOf(cache),
    ...offered,
    toolSources,
    toolFinder: finderOf(capabilities, tools),
    guards: guardsOf(capabilities),
    observer: observerOf(capabilities),
    closable: capabilities.filter((c) => c.close !== undefined),
    callsAgents: callsAgents(tools),
    activeTools: options.activeTools ?? null,
    preparers: preparersOf(options, capabilities, style),
    criteria: agentCriteria(limits, own, {
      errorPolicy,
      errorContextResolver: options.errorContextResolver,
      write: style.code,
    }),
    limits,
    ownCriteria: own.map(({ name: criterion, kind }) => ({
      name: criterion,
      ...(kind === 'limit' && ({ isLimit: true } as const)),
    })),
    errorPolicy,
    hasErrorResolver: options.errorContextResolver !== undefined,
    finishReasons: finishReasonsOf(options),
    landingReserve: reserveOf(options.softLanding),
    budgetNote: options.budgetNote ?? false,
    compaction: compactionSettings(options.compaction, modelOf),
    hooks: composeHooks(hooks),
    hookNames: hooks.map((hook) => hook.name),
    response: responseOf(options.responseFormat, style),
    clock: options.clock ?? systemClock,
    redactor: options.redactor ?? defaultRedactor,
    random: options.random ?? Math.random,
  });
}

function guardsOf(capabilities: readonly AnyCapability[]): AgentDefinition['guards'] {
  const all = capabilities.flatMap(({ guards = [] }) => guards);
  if (all.length === 0) return null;
  const at = (point: GuardPoint) => all.filter((guard) => guard.at === point);
  return { input: at('input'), output: at('output'), tools: at('tools') };
}

function finderOf(
  capabilities: readonly AnyCapability[],
  tools: ReadonlyMap<string, AnyTool>,
): AgentDefinition['toolFinder'] {
  const [first, second] = capabilities.filter(({ toolFinder }) => toolFinder !== undefined);
  if (second) throw invalidOption('capabilities', second.name, 'at most one with a toolFinder');
  const { toolFinder = null } = first ?? {};
  for (const name of toolFinder?.reserved ?? []) if (tools.has(name)) throw duplicateTool(name);
  return toolFinder;
}

function observerOf(capabilities: readonly AnyCapability[]): AgentDefinition['observer'] {
  const [first, second] = capabilities.filter(({ observer }) => observer !== undefined);
  if (second) throw invalidOption('capabilities', second.name, 'at most one with an observer');
  return first?.observer ?? null;
}

const promptOf = (prompt: AgentOptions['systemPrompt'] = ''): SystemPrompt =>
  typeof prompt === 'string' ? { text: prompt } : prompt;

/** Orders the sources of step settings: capabilities first, so that the agent's own has the last word. */
function preparersOf(
  { prepareStep }: AgentOptions,
  capabilities: readonly AnyCapability[],
  style: OptionStyle,
): readonly StepPreparer[] | null {
  const sources = [
    ...capabilities.map(
      (one) => [`prepareStep of capability "${one.name}"`, one.prepareStep] as const,
    ),
    [style.name('prepareStep'), prepareStep] as const,
  ];
  const preparers = sources.flatMap(([source, prepare]) =>
    // the caller of a run passes its dependencies
    prepare ? [{ source, prepare: prepare as StepPreparer['prepare'] }] : [],
  );
  return preparers.length > 0 ? preparers : null;
}

/** The criteria of the user and of the capabilities, which come after those of the options. */
const ownCriteriaOf = (
  options: AgentOptions,
): readonly ContinuationCriterion<AgentState, never>[] => {
  const own: readonly ContinuationCriterion<never, never>[] = [
    ...(options.criteria ?? []),
    ...(options.capabilities ?? []).flatMap((c) => c.criteria ?? []),
  ];
  // typed for the output of this agent
  return own as readonly ContinuationCriterion<AgentState, never>[];
};

/** Resolves the defaults of the limits. */
function limitsOf(options: AgentOptions, tools: ReadonlyMap<string, AnyTool>): AgentLimits {
  const { maxSteps = DEFAULT_MAX_STEPS, maxTokens, maxCost, timeout, cumulativeTimeout } = options;
  const limits: { -readonly [K in keyof AgentLimits]: AgentLimits[K] } = {};
  if (maxSteps !== null) limits.maxSteps = maxSteps;
  const familySteps = familyStepsOf(options, tools);
  if (familySteps !== null) limits.maxFamilySteps = familySteps;
  if (maxTokens != null) limits.maxTokens = maxTokens;
  if (maxCost != null) limits.maxCost = maxCost;
  if (cumulativeTimeout != null) limits.cumulativeTimeout = cumulativeTimeout;
  else if (timeout !== null) limits.timeout = timeout ?? DEFAULT_TIMEOUT;
  if (options.finishReasons !== null) limits.finishReasons = finishReasonsOf(options);
  return limits;
}

/** Limit of family steps: as set, else a default for agents with nested agents; null without a limit. */
function familyStepsOf(
  { maxSteps = DEFAULT_MAX_STEPS, maxFamilySteps }: AgentOptions,
  tools: ReadonlyMap<string, AnyTool>,
): number | null {
  if (maxFamilySteps !== undefined) return maxFamilySteps;
  return callsAgents(tools) && maxSteps !== null ? DEFAULT_FAMILY_STEPS * maxSteps : null;
}

const callsAgents = (tools: ReadonlyMap<string, AnyTool>): boolean =>
  [...tools.values()].some(({ agent }) => agent !== undefined);

const finishReasonsOf = ({ finishReasons }: AgentOptions): readonly string[] =>
  finishReasons === null ? [] : (finishReasons ?? DEFAULT_FINISH_REASONS);

function indexTools(tools: readonly AnyTool[]): ReadonlyMap<string, AnyTool> {
  const index = new Map<string, AnyTool>();
  for (const tool of tools) {
    if (index.has(tool.name)) throw duplicateTool(tool.name);
    index.set(tool.name, tool);
  }
  return index;
}

const duplicateTool = (name: string): AgentError =>
  new AgentError(
    'duplicate_tool',
    `Two tools are named "${name}". The model calls tools by name: rename one of them.`,
    { details: { name } },
  );

function checkToolChoice(
  choice: ToolChoice,
  tools: ReadonlyMap<string, AnyTool>,
  { name }: OptionStyle,
): void {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return;
  if (isRecord(choice) && tools.has(choice.tool)) return;
  const known = [...tools.keys()].join(', ') || 'none';
  throw invalidOption(
    name('toolChoice'),
    isRecord(choice) ? choice.tool : choice,
    `'auto', 'none', 'required' or { tool } with one of: ${known}`,
  );
}

function reserveOf(softLanding: AgentOptions['softLanding']): LandingReserve | null {
  if (softLanding === undefined || softLanding === false) return null;
  const given = softLanding === true ? {} : softLanding;
  const { tokens = DEFAULT_RESERVE.tokens, seconds = DEFAULT_RESERVE.seconds } = given;
  return { tokens, seconds };
}

function responseOf(
  schema: AnySchema | undefined,
  { name }: OptionStyle,
): AgentDefinition['response'] {
  if (schema === undefined) return null;
  const ready = readySchema(name('responseFormat'), schema);
  return { format: { name: 'response', schema: ready.jsonSchema }, schema: ready };
}
