import { AgentError, ErrorContext, ErrorPolicy } from 'onward';
import type { InferenceDriver } from 'onward/drivers';
import type { ErrorReport } from '../../src/errors/error-record.ts';
import { requestOf } from './inference-request.ts';

/** Presets in the order of the columns. */
const presets = [
  ErrorPolicy.stopOnAnyError(),
  ErrorPolicy.production(),
  ErrorPolicy.retryToolErrors(),
  ErrorPolicy.ignoreToolErrors(),
  ErrorPolicy.retryAll(),
];

/** Formats an error as `type code retryable`, then the decision of each preset after the first failure. */
export function rowOf(thrown: unknown): string {
  if (!AgentError.is(thrown, 'model_call_failed')) return `threw ${String(thrown)}`;
  const { type, code, message, retryable = true } = thrown.details['report'] as ErrorReport;
  const context = { ...ErrorContext.none(), type, message, retryable, modelCall: true };
  const decisions = presets.map((policy) =>
    policy.evaluate({ ...context, consecutiveFailures: 1, totalFailures: 1 }),
  );
  return [type, code, retryable ? 'retryable' : 'final', '|', ...decisions].join(' ');
}

export async function failureOf(driver: InferenceDriver, isStreamed: boolean): Promise<unknown> {
  const options = { signal: new AbortController().signal };
  try {
    if (!isStreamed) return await driver.infer(requestOf(), options);
    for await (const _ of driver.stream?.(requestOf(), options) ?? []);
    return 'no error';
  } catch (error) {
    return error;
  }
}
