import { invalidOption, positive, whole } from '../errors/agent-error.ts';
import type { ModelInput } from '../inference/model-registry.ts';
import { isRecord } from '../json.ts';
import type { AgentModel } from './model-chain.ts';

/** When and how the agent compacts a long conversation. */
export interface CompactionOptions {
  /** Tokens of a request at which the conversation is compacted. Default: a share of the context window. */
  readonly atTokens?: number;
  /** Share of the context window, if `atTokens` is not set. Default 0.8. */
  readonly atShare?: number;
  /** Tokens that fit into the model. Default: what is known of the models, the smallest with fallback models. */
  readonly contextWindow?: number;
  /** Turns that stay whole if possible, the current one included. Default 2. */
  readonly keepTurns?: number;
  /** Whether results of tools become short notes first. Default true. */
  readonly clearToolResults?: boolean;
  /** Whether a model summarizes earlier messages if that is not enough. Default true. */
  readonly summarize?: boolean;
  /** Model that writes summaries. Default: the one of the step. */
  readonly model?: ModelInput;
}

/** The options with their defaults. */
export interface CompactionSettings {
  readonly atTokens: number | null;
  readonly atShare: number;
  readonly contextWindow: number | null;
  readonly keepTurns: number;
  readonly clears: boolean;
  readonly summarizes: boolean;
  readonly model: AgentModel | null;
}

const known: readonly (keyof CompactionOptions)[] = [
  'atTokens',
  'atShare',
  'contextWindow',
  'keepTurns',
  'clearToolResults',
  'summarize',
  'model',
];

/** Rejects invalid options; `checkModel` rejects an invalid model. */
export function checkCompaction(
  name: string,
  value: unknown,
  checkModel: (name: string, value: unknown) => void,
): void {
  if (typeof value === 'boolean') return;
  if (!isRecord(value)) throw invalidOption(name, value, `an object with ${known.join(', ')}`);
  for (const key of Object.keys(value))
    if (!known.some((one) => one === key))
      throw invalidOption(`${name} ${key}`, value[key], `one of ${known.join(', ')}`);
  const { atTokens, atShare, contextWindow, keepTurns, clearToolResults, summarize, model } = value;
  if (atTokens !== undefined) whole(`${name} atTokens`, atTokens as number);
  if (contextWindow !== undefined) whole(`${name} contextWindow`, contextWindow as number);
  if (keepTurns !== undefined) whole(`${name} keepTurns`, keepTurns as number);
  if (atShare !== undefined && positive(`${name} atShare`, atShare as number) > 1)
    throw invalidOption(`${name} atShare`, atShare, 'a share between 0 and 1');
  for (const [key, flag] of Object.entries({ clearToolResults, summarize }))
    if (flag !== undefined && typeof flag !== 'boolean')
      throw invalidOption(`${name} ${key}`, flag, 'a boolean');
  if (model !== undefined) checkModel(`${name} model`, model);
  if (clearToolResults === false && summarize === false)
    throw invalidOption(
      name,
      value,
      'clearToolResults or summarize, because otherwise nothing is compacted',
    );
}

/** Returns the settings; null if the agent does not compact. */
export function compactionSettings(
  options: CompactionOptions | boolean = false,
  modelOf: (input: ModelInput) => AgentModel,
): CompactionSettings | null {
  if (options === false) return null;
  const given = options === true ? {} : options;
  const { atTokens = null, atShare = 0.8, contextWindow = null, keepTurns = 2, model } = given;
  const { clearToolResults: clears = true, summarize: summarizes = true } = given;
  return {
    atTokens,
    atShare,
    contextWindow,
    keepTurns,
    clears,
    summarizes,
    model: model === undefined ? null : modelOf(model),
  };
}
