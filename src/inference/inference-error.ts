import { AgentError } from '../errors/agent-error.ts';
import { messageOf, type ErrorReport } from '../errors/error-record.ts';
import { defaultRedactor } from '../errors/redactor.ts';
import { isRecord } from '../json.ts';
import type { InferredToolCall } from './inference-driver.ts';
import type { ProviderReport } from './model-call-info.ts';
import type { Usage } from './usage.ts';

/** The part of an answer that arrived before a model call failed. Calls may be incomplete, and none of them may run. */
export interface PartialAnswer extends ProviderReport {
  readonly content?: string;
  readonly toolCalls?: readonly InferredToolCall[];
  readonly usage?: Partial<Usage>;
  readonly cost?: number | null;
}

/** Creates the error that a driver throws: the failure as a record, and the partial answer. */
export const modelCallFailed = (
  report: ErrorReport,
  partial: PartialAnswer = {},
  options: { readonly cause?: unknown } = {},
): AgentError => {
  const safe = { ...report, message: defaultRedactor.text(report.message) };
  return new AgentError('model_call_failed', safe.message, {
    ...options,
    details: { report: safe, partial },
  });
};

/** Creates the error of an incomplete answer: a retry may get all of it. */
export const brokenOff = (
  partial: PartialAnswer = {},
  message = "The connection ended before the model's answer was complete.",
): AgentError => modelCallFailed({ type: 'timeout', code: 'stream_incomplete', message }, partial);

/** Returns the record and the partial answer of anything that a driver may throw. */
export function readFailure(thrown: unknown): {
  readonly report: ErrorReport;
  readonly partial: PartialAnswer;
} {
  if (AgentError.is(thrown, 'model_call_failed') && isRecord(thrown.details['report'])) {
    const partial = thrown.details['partial'];
    return {
      report: thrown.details['report'] as unknown as ErrorReport, // written by modelCallFailed
      partial: isRecord(partial) ? partial : {},
    };
  }
  return {
    report: { type: 'model', code: 'driver_failed', message: messageOf(thrown) },
    partial: {},
  };
}
