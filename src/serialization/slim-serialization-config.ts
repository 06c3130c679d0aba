import { invalidOption, isWhole } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';

/** How much of a state the slim form keeps; `null` is no limit. */
export interface SlimSerializationConfig {
  /** System messages count, and always stay; so does the newest turn. */
  readonly maxMessages: number | null;
  /** Code points of each text: a message, a tool result, an error. */
  readonly maxContentLength: number | null;
  readonly includeToolArgs: boolean;
  readonly includeMetadata: boolean;
  readonly includeAllSteps: boolean;
  /** Where not all steps are kept: the one that an open execution continues from. Left out: true. */
  readonly includeCurrentStep?: boolean;
  /** Whether outcomes keep all their evaluations. */
  readonly includeContinuationTrace: boolean;
  /** Bytes of the whole document as JSON in UTF-8. */
  readonly maxBytes?: number;
}

export const SlimSerializationConfig = {
  /** For lists and previews: an open execution mostly cannot be resumed from it. */
  minimal: (): SlimSerializationConfig => ({
    maxMessages: 10,
    maxContentLength: 500,
    includeToolArgs: false,
    includeMetadata: false,
    includeAllSteps: false,
    includeCurrentStep: false,
    includeContinuationTrace: false,
  }),
  standard: (): SlimSerializationConfig => ({
    maxMessages: 50,
    maxContentLength: 1000,
    includeToolArgs: true,
    includeMetadata: true,
    includeAllSteps: false,
    includeContinuationTrace: false,
  }),
  full: (): SlimSerializationConfig => ({
    maxMessages: null,
    maxContentLength: null,
    includeToolArgs: true,
    includeMetadata: true,
    includeAllSteps: true,
    includeContinuationTrace: true,
  }),
} as const;

/** What one writing of the document keeps; the byte budget tightens it further. */
export interface SlimLimits extends Required<Omit<SlimSerializationConfig, 'maxBytes'>> {
  readonly maxTurns: number | null;
}

const switches = [
  'includeToolArgs',
  'includeMetadata',
  'includeAllSteps',
  'includeCurrentStep',
  'includeContinuationTrace',
] as const;
const counts = ['maxMessages', 'maxContentLength', 'maxBytes'] as const;

/** Fills up what is left out from `standard()`, and refuses what is no config. */
export function checkedConfig(
  config: Partial<SlimSerializationConfig>,
): SlimLimits & { readonly maxBytes: number | null } {
  if (!isRecord(config)) throw invalidOption('SlimSerializationConfig', config, 'an object');
  const given = Object.entries(config).filter(([, value]) => value !== undefined);
  for (const [key, value] of given) {
    const option = `SlimSerializationConfig.${key}`;
    if (counts.some((count) => count === key)) {
      if (value !== null && !isWhole(value))
        throw invalidOption(option, value, 'a whole number above 0, or null for no limit');
    } else if (!switches.some((name) => name === key))
      throw invalidOption(option, value, `one of ${[...counts, ...switches].join(', ')} instead`);
    else if (typeof value !== 'boolean') throw invalidOption(option, value, 'true or false');
  }
  return {
    includeCurrentStep: true,
    maxBytes: null,
    maxTurns: null,
    ...SlimSerializationConfig.standard(),
    ...(Object.fromEntries(given) as Partial<SlimSerializationConfig>),
  };
}
