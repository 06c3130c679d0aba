import { AgentError, invalidOption, positive, show, whole } from '../errors/agent-error.ts';
import { ErrorPolicy } from '../errors/error-policy.ts';
import { isModelInput } from '../inference/model-registry.ts';
import { checkPrices } from '../inference/prices.ts';
import { isRecord } from '../json.ts';
import { CACHE_MARKS, isCacheMark } from '../messages/cache-mark.ts';
import type { AgentOptions } from './agent-options.ts';
import { checkCompaction } from './compaction-options.ts';

/** How the caller writes an option. */
export interface OptionStyle {
  /** `maxSteps` for `createAgent`, `withMaxSteps` for the builder. */
  readonly name: (option: keyof AgentOptions) => string;
  /** `maxSteps` for `createAgent`, `withMaxSteps(...)` for the builder; with a value `maxSteps: 3`, `withMaxSteps(3)`. */
  readonly code: (option: keyof AgentOptions, value?: string) => string;
}

/** For `createAgent`. */
export const plainOptions: OptionStyle = {
  name: (option) => option,
  code: (option, value) => (value === undefined ? option : `${option}: ${value}`),
};

const builderNames: { readonly [O in keyof AgentOptions]?: string } = {
  capabilities: 'withCapability',
  criteria: 'addContinuationCriteria',
  models: 'withModel registry',
  errorContextResolver: 'withErrorPolicy resolver',
};

const builderName = (option: keyof AgentOptions): string =>
  builderNames[option] ?? `with${option.charAt(0).toUpperCase()}${option.slice(1)}`;

/** For the builder. */
export const builderMethods: OptionStyle = {
  name: builderName,
  code: (option, value = '...') => `${builderName(option)}(${value})`,
};

/** Throws if the value is not valid for the option. */
type Check = (name: string, value: unknown) => void;

const fits =
  (isFit: (value: unknown) => boolean, expected: string): Check =>
  (name, value) => {
    if (!isFit(value)) throw invalidOption(name, value, expected);
  };

const listOf =
  (check: Check): Check =>
  (name, value) => {
    if (!Array.isArray(value)) throw invalidOption(name, value, 'a list');
    for (const one of value) check(name, one);
  };

/** Whether a value has these methods. */
const has =
  (...methods: readonly string[]) =>
  (value: unknown): boolean =>
    methods.every((method) => typeof (value as Record<string, unknown>)?.[method] === 'function');
const isNamed = (value: unknown): boolean =>
  typeof (value as { readonly name?: unknown } | null | undefined)?.name === 'string';
const isText = (value: unknown): boolean => typeof value === 'string';
const isFunction = (value: unknown): boolean => typeof value === 'function';
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isTool = (value: unknown): boolean => isNamed(value) && has('check')(value);
const isCriterion = (value: unknown): boolean => isNamed(value) && has('evaluate')(value);

const model: Check = (name, value) => {
  if (isModelInput(value)) return;
  throw new AgentError(
    'driver_missing',
    `${name} got ${show(value)}, expected a driver with infer(), an AI SDK language model, or a name such as "openai:gpt-5".`,
  );
};
const tools = listOf((name, value) => {
  if (isTool(value)) return;
  throw new AgentError(
    'invalid_tool',
    `${name} got ${show(value)}, expected the result of defineTool() or agent.asTool().`,
  );
});
const hooks = listOf(fits(isNamed, 'hooks with a name'));
const criteria = listOf(fits(isCriterion, 'criteria of { name, evaluate }'));
const text = fits(isText, 'a text');
const count: Check = (name, value) => whole(name, value as number);
const amount: Check = (name, value) => positive(name, value as number);
const time: Check = (name, value) => {
  // a bare number has no unit
  if (!isRecord(value)) throw invalidOption(name, value, '{ seconds: <number> }');
  amount(`${name} seconds`, value['seconds']);
};
const optional =
  (check: Check): Check =>
  (name, value) => {
    if (value !== undefined) check(name, value);
  };

/** Checks the members of a capability like the options of an agent. */
const capability: Check = (name, value) => {
  if (!isRecord(value) || !isNamed(value))
    throw invalidOption(name, value, 'capabilities with a name');
  const member = (key: string): string => `${name} "${String(value['name'])}" ${key}`;
  if (typeof value['tools'] !== 'function') optional(tools)(member('tools'), value['tools']);
  optional(fits((close) => typeof close === 'function', 'a function'))(
    member('close'),
    value['close'],
  );
  optional(hooks)(member('hooks'), value['hooks']);
  optional(criteria)(member('criteria'), value['criteria']);
  optional(text)(member('systemPrompt'), value['systemPrompt']);
  optional(fits(isFunction, 'a function'))(member('prepareStep'), value['prepareStep']);
  optional(fits(has('offer'), 'an object with offer()'))(member('toolFinder'), value['toolFinder']);
};

const policy: Check = (name, value) => {
  if (!isRecord(value))
    throw invalidOption(name, value, 'a policy such as ErrorPolicy.production()');
  try {
    ErrorPolicy.from(value);
  } catch (cause) {
    throw new AgentError('invalid_option', `${name}: ${(cause as Error).message}`, { cause });
  }
};

const prompt: Check = (name, value) => {
  if (isText(value)) return;
  if (!isRecord(value) || !isText(value['text']))
    throw invalidOption(name, value, 'a text, or { text, cache? }');
  const { cache } = value;
  if (cache !== undefined && !isCacheMark(cache))
    throw invalidOption(`${name} cache`, cache, CACHE_MARKS);
};

const reserve: Check = (name, value) => {
  if (isBoolean(value)) return;
  if (!isRecord(value)) throw invalidOption(name, value, 'a boolean or { tokens?, seconds? }');
  optional(amount)(`${name} tokens`, value['tokens']);
  optional(amount)(`${name} seconds`, value['seconds']);
};

/** For options that are checked where they are read. */
const later: Check = () => {};

/** One check for each option; the type requires one for a new option. */
const checks: { readonly [O in keyof Required<AgentOptions>]: Check } = {
  model,
  driver: model,
  fallback: listOf(model),
  models: fits(has('resolve'), 'the result of createModelRegistry()'),
  prices: checkPrices,
  name: fits((value) => isText(value) && value !== '', 'a name'),
  systemPrompt: prompt,
  tools,
  toolChoice: later,
  activeTools: later,
  prepareStep: fits(isFunction, 'a function'),
  maxSteps: count,
  maxFamilySteps: count,
  maxTokens: amount,
  maxCost: amount,
  timeout: time,
  cumulativeTimeout: time,
  errorPolicy: policy,
  errorContextResolver: fits(has('resolve'), 'an object with resolve()'),
  finishReasons: listOf(fits(isText, 'finish reasons')),
  softLanding: reserve,
  budgetNote: fits(isBoolean, 'a boolean'),
  compaction: (name, value) => checkCompaction(name, value, model),
  criteria,
  hooks,
  capabilities: listOf(capability),
  responseFormat: later,
  clock: fits(has('now', 'after'), 'a clock with now() and after()'),
  redactor: fits(has('text', 'value', 'isSecretKey'), 'the result of createRedactor()'),
  random: fits(isFunction, 'a function'),
};

/** Options for which `null` means none. */
const nullable: ReadonlySet<keyof AgentOptions> = new Set([
  'maxSteps',
  'maxFamilySteps',
  'maxTokens',
  'maxCost',
  'timeout',
  'cumulativeTimeout',
  'finishReasons',
] as const);

/** Rejects an invalid value, with the option name that the caller used. */
export const checkOption = (
  option: keyof AgentOptions,
  value: unknown,
  { name }: OptionStyle,
): void => checks[option](name(option), value);

/** Checks all options that are set. */
export function checkOptions(options: Partial<AgentOptions>, style: OptionStyle): void {
  for (const option of Object.keys(checks) as (keyof AgentOptions)[]) {
    const value = options[option];
    if (value === undefined || (value === null && nullable.has(option))) continue;
    checkOption(option, value, style);
  }
}
