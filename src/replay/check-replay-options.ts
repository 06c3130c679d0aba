import { invalidOption, positive, whole } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import type { ReplayOptions } from './replay-options.ts';

const limitNames = ['maxSteps', 'maxTokens', 'maxCost', 'seconds'] as const;
const optionNames = ['limits', 'errorPolicy', 'criteria', 'deps', 'executionId'] as const;

/** Rejects options that a replay does not have, and limits that an agent would refuse. */
export function checkReplayOptions(options: ReplayOptions): void {
  known('options of replay', options, optionNames);
  const { limits = {}, criteria } = options;
  known('limits of replay', limits, limitNames);
  for (const name of limitNames) {
    const limit = limits[name];
    if (limit === undefined || limit === null) continue;
    if (name === 'maxSteps') whole(name, limit);
    else positive(name, limit);
  }
  if (criteria !== undefined && !Array.isArray(criteria))
    throw invalidOption('criteria', criteria, 'a list of criteria');
}

function known(what: string, given: unknown, names: readonly string[]): void {
  if (!isRecord(given)) throw invalidOption(what, given, 'an object');
  const other = Object.keys(given).find((name) => !names.includes(name));
  if (other !== undefined) throw invalidOption(what, other, `one of ${names.join(', ')}`);
}
