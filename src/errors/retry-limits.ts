import { isRecord } from '../json.ts';
import { invalidOption } from './agent-error.ts';
import type { ErrorHandlingDecision } from './error-type.ts';

/** Number of retries after the first failure, counted apart for failed model calls and for answered steps with errors. */
export interface RetryLimits {
  readonly model: number;
  readonly tool: number;
}

/** One number applies to both counts. */
export type MaxRetries = number | RetryLimits;

/** How the errors of one tool are handled. Applies before the policy. */
export interface ToolErrorRule {
  readonly onError?: ErrorHandlingDecision;
  /** Retries of this tool, counted by its own failures in a row in the execution. */
  readonly maxRetries?: number;
}

export const retriesIn = (limits: MaxRetries, countedAs: keyof RetryLimits): number =>
  typeof limits === 'number' ? limits : limits[countedAs];

export const moreRetries = (limits: MaxRetries, more: number): MaxRetries =>
  typeof limits === 'number'
    ? limits + more
    : { model: limits.model + more, tool: limits.tool + more };

/** Fills in the count that a change leaves out. */
export function mergedRetries(
  limits: MaxRetries,
  change: number | Partial<RetryLimits>,
): MaxRetries {
  if (!isRecord(change)) return change; // checked where the policy is made
  return { model: retriesIn(limits, 'model'), tool: retriesIn(limits, 'tool'), ...change };
}

/** Rejects anything but whole numbers of 0 or more. */
export function checkedRetries(option: string, limits: unknown): MaxRetries {
  if (!isRecord(limits)) return checkedCount(option, limits, `${COUNT} or { model, tool }`);
  const unknown = Object.keys(limits).find((key) => key !== 'model' && key !== 'tool');
  if (unknown !== undefined) throw invalidOption(option, limits, `${COUNT} or { model, tool }`);
  return Object.freeze({
    model: checkedCount(`${option}.model`, limits['model']),
    tool: checkedCount(`${option}.tool`, limits['tool']),
  });
}

const COUNT = 'a whole number of 0 or more';

export function checkedCount(option: string, count: unknown, expected: string = COUNT): number {
  if (Number.isSafeInteger(count) && (count as number) >= 0) return count as number;
  throw invalidOption(option, count, expected);
}
