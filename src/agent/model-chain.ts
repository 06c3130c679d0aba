import type { ModelFailure } from '../continuation/model-failure.ts';
import { contextOf, type Failures } from '../continuation/retry-account.ts';
import { fallsBack } from '../errors/fallback-rule.ts';
import type { InferenceDriver } from '../inference/inference-driver.ts';
import { driverOf, type ModelInput, type ModelRegistry } from '../inference/model-registry.ts';
import { priceIn, type Price, type PriceTable } from '../inference/prices.ts';
import type { AgentState } from './agent-state.ts';
import type { AgentStep } from './agent-step.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';
import { onDemand } from '../on-demand.ts';

/** A model of an agent: the first one answers, the others are its fallback. */
export interface AgentModel {
  /** Name of the driver, unique in the agent. Steps store it. */
  readonly id: string;
  readonly driver: InferenceDriver;
  /** Null if the price is unknown; undefined until {@link loadPrice} has looked it up. */
  price: Price | null | undefined;
}

export type ModelChain = readonly [AgentModel, ...AgentModel[]];

/** Milliseconds for which a failed model is skipped if its provider asks for no other time. */
const COOL_DOWN_MS = 60_000;

/** Most characters of a message that each further failed step repeats. */
const MAX_MESSAGE = 300;

/** Time from which a failed model is used again. It belongs to the process, and to the driver that agents share. */
const coolDowns = new WeakMap<InferenceDriver, number>();

export function modelChain(
  first: InferenceDriver,
  fallback: readonly InferenceDriver[],
  prices?: PriceTable,
): ModelChain {
  const ids = new Set<string>();
  const entry = (driver: InferenceDriver): AgentModel => {
    const id = freeId(driver, ids);
    ids.add(id);
    return { id, driver, price: ownPrice(driver, prices) };
  };
  return [entry(first), ...fallback.map(entry)];
}

/** Returns the price in the agent's own table; undefined if the list prices have to be asked. */
function ownPrice({ model }: InferenceDriver, prices: PriceTable = {}): Price | null | undefined {
  return model === undefined ? null : (priceIn(prices, model) ?? undefined);
}

/** Looks up the list price of a model before its first call: a table that many pages and agents never need. */
export async function loadPrice(model: AgentModel): Promise<void> {
  const { priceOf } = await onDemand(import('../inference/price-list.ts'));
  model.price = priceOf(model.driver.model);
}

function freeId({ name }: InferenceDriver, ids: ReadonlySet<string>): string {
  let id = name;
  for (let n = 2; ids.has(id); n++) id = `${name}#${n}`;
  return id;
}

/** Most names of models whose drivers an agent keeps. */
const MAX_NAMED = 100;

/** Returns the models that steps may choose. A value gives the same model each time, so that it keeps its cool-down. */
export function modelPicker(
  chain: ModelChain,
  registry?: ModelRegistry,
  prices?: PriceTable,
): (input: ModelInput) => AgentModel {
  const ids = new Set(chain.map(({ id }) => id));
  const named = new Map<string, AgentModel>();
  const kept = new WeakMap<object, AgentModel>();
  const made = (input: ModelInput): AgentModel => {
    const own = chain.find(({ id, driver }) => driver === input || id === input);
    if (own) return own;
    const driver = driverOf(input, registry);
    return { id: freeId(driver, ids), driver, price: ownPrice(driver, prices) };
  };
  return (input) => {
    const known = typeof input === 'string' ? named.get(input) : kept.get(input);
    if (known) return known;
    const model = made(input);
    if (typeof input !== 'string') kept.set(input, model);
    else if (named.size < MAX_NAMED) named.set(input, model);
    return model;
  };
}

/**
 * Returns the model of the next step. The steps decide: the fallback of a failed call, else the model of the last step,
 * which keeps the execution. A new execution begins with the first model that is not cooling down.
 */
export function modelFor({ agent: { models }, state, now }: Run): AgentModel {
  if (models.length === 1) return models[0];
  const last = lastStep(state);
  const isGivenUp = last?.failedModels?.some(({ model }) => model === last.model);
  const id = last?.fallback ?? (isGivenUp ? undefined : last?.model);
  return models.find((model) => model.id === id) ?? available(models, now()) ?? models[0];
}

/**
 * Makes a step call the model that it chose, before those of the agent. Returns false if it keeps the one it has: once a
 * model was given up, the fallback continues until an answer, and a chosen model that is cooling down is skipped.
 */
export function modelOfStep(
  { agent: { models }, state, now }: Run,
  draft: StepDraft,
  chosen: AgentModel,
): boolean {
  const last = lastStep(state);
  const isOpenFailure = last?.type === 'error' && last.number > state.execution.handledStep;
  if (isOpenFailure && last.failedModels !== undefined) return false;
  const first = models.length === 1 ? chosen : available([chosen, ...models], now());
  if (first !== chosen) return false;
  draft.model = chosen;
  draft.modelId = chosen.id;
  return true;
}

/** A model call, as the failure counts see it. */
export interface CountedCall {
  readonly isFailed: boolean;
  /** Id of its model; null if the agent has only one. */
  readonly model: string | null;
  /** Whether `prepareStep` chose the model. */
  readonly isChosen: boolean;
}

/** Returns the counts before a call. Failures of other models do not count for a failed call. */
export function countsBefore(
  state: Pick<AgentState, 'execution' | 'steps'>,
  { isFailed, model, isChosen }: CountedCall,
  hasFallback: boolean,
): Failures {
  const { execution } = state;
  if (!hasFallback || !isFailed) return execution;
  const last = lastStep(state, true);
  // a step that chooses another model by itself gets no new retries
  const isSteered = isChosen || last?.steering?.model !== undefined;
  if (
    last?.model === (model ?? undefined) ||
    (isSteered && last?.fallback !== (model ?? undefined))
  )
    return execution;
  return { ...execution, modelFailures: 0 };
}

/** Decides once, with the failed step, whether the run continues with another model. */
export function fallbackOf(
  run: Run,
  { failure, model, modelId }: StepDraft,
  failures: Failures,
): Pick<AgentStep, 'fallback' | 'failedModels'> | null {
  const { models, errorPolicy } = run.agent;
  if (models.length === 1 || failure === null || modelId === null) return null;
  const { execution } = run.state;
  const policy = errorPolicy.withMoreRetries(execution.grants.retries ?? 0);
  const context = contextOf(failure, { type: 'error' }, failures, failures.totalFailures, policy);
  const handling = policy.evaluate(context);
  const last = lastStep(run.state, true);
  const before =
    last?.type === 'error' && last.number > execution.handledStep ? (last.failedModels ?? []) : [];
  if (fallsBack(failure, handling)) {
    const now = run.now();
    coolDowns.set(model.driver, now + (failure.retryAfterMs ?? COOL_DOWN_MS));
    const { code, message, retryable } = failure;
    const { until } = context.metadata;
    const given: ModelFailure = {
      model: modelId,
      code,
      message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1)}…` : message,
      retryable,
      ...(typeof until === 'string' && { until }),
    };
    const failedModels = [...before.filter((one) => one.model !== modelId), given];
    const next = available(
      models.filter(({ id }) => !failedModels.some((one) => one.model === id)),
      now,
    );
    if (next) return { failedModels, fallback: next.id };
    // without another model, a retry that the policy allows is better than a stop
    if (handling === 'stop') return { failedModels };
  }
  return before.length > 0 ? { failedModels: before } : null;
}

/** Ends the cool-down of a model that answered. */
export function endCoolDown({ driver }: AgentModel): void {
  coolDowns.delete(driver);
}

/** Returns the first model that is not cooling down, else the one whose cool-down ends first. */
function available(models: readonly AgentModel[], now: number): AgentModel | undefined {
  const until = ({ driver }: AgentModel): number => coolDowns.get(driver) ?? 0;
  return (
    models.find((model) => until(model) <= now) ?? models.toSorted((a, b) => until(a) - until(b))[0]
  );
}

/** Returns the last step of the execution, without interrupted ones if `isCounted`, because they count nothing. */
function lastStep(
  { steps, execution }: Pick<AgentState, 'execution' | 'steps'>,
  isCounted: boolean = false,
): AgentStep | undefined {
  for (let i = steps.length - 1; i >= 0; i--) {
    const step = steps.at(i);
    if (step?.executionId !== execution.id) return undefined;
    if (!isCounted || step.type !== 'cut') return step;
  }
  return undefined;
}
