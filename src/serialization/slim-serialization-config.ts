import { invalidOption, isWhole } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';

/** How much of a state the slim form keeps; `null` means no limit. */
export interface SlimSerializationConfig {
  /** Most messages. System messages and the newest turn count, and are always kept. */
  readonly maxMessages: number | null;
  /** Most code points of each text: a message, a tool result, an error. */
  readonly maxContentLength: number | null;
  readonly includeToolArgs: boolean;
  readonly includeMetadata: boolean;
  readonly includeAllSteps: boolean;
  /** Without `includeAllSteps`: whether to keep the step that an open execution continues from. Default: true. */
  readonly includeCurrentStep?: boolean;
  /** Whether outcomes keep all their evaluations. */
  readonly includeContinuationTrace: boolean;
  /** Most bytes of the whole document as JSON in UTF-8. */
  readonly maxBytes?: number;
}

export const SlimSerializationConfig = {
  /** For lists and previews. Usually an open execution cannot be resumed from it. */
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

/** Limits for one attempt to write the document; the byte budget may tighten them. */
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

/** Fills in missing options from `standard()`, and rejects invalid ones. */
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
