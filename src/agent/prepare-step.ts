import { show } from '../errors/agent-error.ts';
import { messageOf } from '../errors/error-record.ts';
import type { ToolChoice } from '../inference/inference-driver.ts';
import { isModelInput, type ModelInput } from '../inference/model-registry.ts';
import { isRecord } from '../json.ts';
import { sentence, withoutFullStop } from '../sentence.ts';
import type { StepInput } from './hooks.ts';
import type { Run } from './run.ts';
import { steer } from './steer-step.ts';
import type { StepDraft } from './step-draft.ts';

export interface PrepareStepInput<Deps = {}> extends StepInput {
  readonly deps: Deps;
  /** Signal that aborts on a stop and at the deadline. The step does not wait for `prepareStep` then. */
  readonly signal: AbortSignal;
}

/** What is different in one step. What is left out stays as the agent defines it. */
export interface StepSettings<ToolName extends string = string> {
  /** Names of the tools that the model sees, among those of the run. Calls of other tools do not run. */
  readonly activeTools?: readonly ToolName[] | undefined;
  readonly toolChoice?: ToolChoice<ToolName> | undefined;
  /** Model of this step. If it fails, the models of the agent are its fallback, if the agent has fallback models. */
  readonly model?: ModelInput | undefined;
  /** System prompt of this step, in place of the agent's. */
  readonly system?: string | undefined;
}

/** Chooses tools, model and prompt of a step before its model call; `undefined` changes nothing. */
export type PrepareStep<ToolName extends string = string, Deps = {}> = (
  input: PrepareStepInput<Deps>,
) => StepSettings<ToolName> | undefined | Promise<StepSettings<ToolName> | undefined>;

/** A `prepareStep` with any dependencies. */
export type AnyPrepareStep = PrepareStep<string, never>;

/** One `prepareStep` of an agent, with the text that names it in errors. */
export interface StepPreparer {
  readonly source: string;
  readonly prepare: PrepareStep<string, Readonly<Record<string, unknown>>>;
}

/**
 * Asks all sources in order and steers the step. Tools that one leaves out stay out; for the rest, the last source
 * counts. Returns false if the step ends here: a source failed, or the run was cancelled.
 */
export async function prepareDraft(
  run: Run,
  draft: StepDraft,
  preparers: readonly StepPreparer[],
): Promise<boolean> {
  let { source } = preparers[0] ?? { source: 'prepareStep' };
  try {
    let settings: StepSettings = {};
    for (const preparer of preparers) {
      ({ source } = preparer);
      const input = { ...inputOf(run, draft), signal: run.cancellation.signal };
      const given = await run.cancellation.race(Promise.resolve(preparer.prepare(input)));
      settings = merged(settings, checked(given));
    }
    steer(run, draft, settings);
    return true;
  } catch (error) {
    if (run.cancellation.cause) draft.isTruncated = true;
    else
      draft.failure = run.record({
        type: 'unknown',
        code: 'prepare_failed',
        message: `${source} failed: ${sentence(withoutFullStop(messageOf(error)))} The model was not called.`,
      });
    return false;
  }
}

const inputOf = ({ state, deps }: Run, { number: stepNumber, attempt }: StepDraft) => ({
  state,
  stepNumber,
  attempt,
  deps,
});

function merged(before: StepSettings, given: StepSettings): StepSettings {
  const activeTools =
    before.activeTools && given.activeTools
      ? before.activeTools.filter((name) => given.activeTools?.includes(name))
      : (given.activeTools ?? before.activeTools);
  return {
    activeTools,
    toolChoice: given.toolChoice ?? before.toolChoice,
    model: given.model ?? before.model,
    system: given.system ?? before.system,
  };
}

const expected = '{ activeTools?, toolChoice?, model?, system? } or undefined';

/** One check for each setting. */
const checks: {
  readonly [S in keyof StepSettings]-?: readonly [(value: unknown) => boolean, string];
} = {
  activeTools: [
    (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
    'a list of tool names',
  ],
  toolChoice: [
    (value) =>
      value === 'auto' ||
      value === 'none' ||
      value === 'required' ||
      (isRecord(value) && typeof value['tool'] === 'string'),
    `'auto', 'none', 'required' or { tool }`,
  ],
  model: [isModelInput, 'a driver, an AI SDK language model, or a name such as "openai:gpt-5"'],
  system: [(value) => typeof value === 'string', 'a text'],
};

function checked(given: unknown): StepSettings {
  if (given === undefined) return {};
  if (!isRecord(given)) throw new Error(`it returned ${show(given)}, expected ${expected}`);
  const settings: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(checks, key))
      throw new Error(`it returned a setting ${show(key)}, expected ${expected}`);
    const [isFit, kind] = checks[key as keyof StepSettings];
    if (value !== undefined && !isFit(value))
      throw new Error(`its ${key} is ${show(value)}, expected ${kind}`);
    settings[key] = value;
  }
  return settings;
}
