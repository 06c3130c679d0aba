import { invalidOption, positive, whole } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import type { AgentOptions } from './agent-options.ts';

/** The name of an option as the caller wrote it: `maxSteps` for `createAgent`, `withMaxSteps` for the builder. */
export type OptionName = (option: keyof AgentOptions) => string;

export const ownName: OptionName = (option) => option;

export const builderName: OptionName = (option) => {
  if (option === 'capabilities') return 'withCapability';
  if (option === 'criteria') return 'addContinuationCriteria';
  return `with${option.charAt(0).toUpperCase()}${option.slice(1)}`;
};

const limitOptions = [
  'maxSteps',
  'maxFamilySteps',
  'maxTokens',
  'maxCost',
  'timeout',
  'cumulativeTimeout',
] as const;
export type LimitOption = (typeof limitOptions)[number];

/** Refuses a limit that is not above 0. */
export function checkLimit(option: LimitOption, value: unknown, nameOf: OptionName): void {
  const name = nameOf(option);
  if (option === 'maxSteps' || option === 'maxFamilySteps') whole(name, value as number);
  else if (option === 'maxTokens' || option === 'maxCost') positive(name, value as number);
  // a bare number would leave the unit open
  else if (!isRecord(value)) throw invalidOption(name, value, '{ seconds: <number> }');
  else positive(`${name} seconds`, value['seconds'] as number);
}

/** Checks all limits of an agent; `null` is none. */
export function checkLimits(options: Partial<AgentOptions>, nameOf: OptionName): void {
  for (const option of limitOptions)
    if (options[option] != null) checkLimit(option, options[option], nameOf);
}
