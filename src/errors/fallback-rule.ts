import type { ErrorRecord } from './error-record.ts';
import type { ErrorHandlingDecision } from './error-type.ts';

/** Longest wait that a retry of the same model is worth, in milliseconds. */
const LONGEST_WAIT_MS = 60_000;

/** Codes of failures that belong to the request: another model would get the same request. */
const neverCodes: ReadonlySet<string> = new Set([
  'refusal',
  'content_filter',
  'invalid_request',
  'context_length',
  'hook_failed',
  'prepare_failed',
]);

/** Codes of failures that no retry of the same model fixes. */
const atOnceCodes: ReadonlySet<string> = new Set(['not_found', 'model_not_found', 'quota']);

/**
 * Whether a run continues with the next model after a failed call: if the policy would stop, because the tries of the
 * model are spent, or at once if retries of the same model do not help.
 */
export function fallsBack(
  { code, retryAfterMs = 0 }: Pick<ErrorRecord, 'code' | 'retryAfterMs'>,
  handling: ErrorHandlingDecision,
): boolean {
  if (neverCodes.has(code)) return false;
  return handling === 'stop' || atOnceCodes.has(code) || retryAfterMs > LONGEST_WAIT_MS;
}
