import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { AgentStep } from '../agent/agent-step.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { PartFacts } from '../messages/part-facts.ts';
import type { Usage } from '../inference/usage.ts';
import { resultText, type ApprovalRecord, type ToolResult } from '../tools/tool-result.ts';
import { cutParts, truncateText } from './truncate-text.ts';
import { readSlimCall, readSlimParts, slimCalls, slimParts, type Writing } from './slim-message.ts';
import { readSlimInputs } from './slim-inputs.ts';
import { readSlimPolicy, slimPolicy } from './slim-records.ts';
import type { SlimError, SlimOutcome, SlimResult, SlimStep } from './slim-state.ts';
import { camelKeys, snakeKeys } from './snake-keys.ts';

/** Writes a step. `isNeeded` means that the step is unfinished, so the model still needs its calls and results. */
export function slimStep(step: AgentStep, writing: Writing, isNeeded: boolean): SlimStep {
  const { value, hidden } = writing.redactor.step(step);
  writing.report.secretsHidden(hidden, isNeeded);
  const { toolCalls, results, errors, usage, outcome, policy, ...rest } = value;
  return {
    ...snakeKeys(rest),
    tool_calls: slimCalls(toolCalls, writing, isNeeded),
    results: results.map((result) => slimResult(result, writing, isNeeded)),
    errors: errors.map((error) => slimError(error, writing)),
    usage: snakeKeys(usage),
    ...(policy && { policy: slimPolicy(policy) }),
    outcome: outcome && slimOutcome(outcome, writing.limits.includeContinuationTrace),
  };
}

export function slimResult(
  { error, approval, files, content: parts, ...result }: ToolResult,
  writing: Writing,
  isNeeded: boolean,
): SlimResult {
  const { limits, report } = writing;
  const text = resultText(result.value);
  const cut = truncateText(text, limits.maxContentLength);
  const content = parts && cutParts(parts, limits.maxContentLength);
  if (cut !== text || content !== parts) {
    report.contents += 1;
    if (isNeeded) report.needed.results += 1;
  }
  return {
    ...snakeKeys(result),
    value: cut === text ? result.value : cut,
    ...(files ? { files: files.map((file) => snakeKeys(file)) } : null),
    ...(content && { content: slimParts(content) }),
    ...(error ? { error: slimError(error, writing) } : null),
    ...(approval ? { approval: snakeKeys(approval) } : null),
  };
}

function slimError(error: ErrorRecord, { limits, report }: Writing): SlimError {
  const message = truncateText(error.message, limits.maxContentLength);
  if (message !== error.message) report.contents += 1;
  return snakeKeys({ ...error, message });
}

const slimOutcome = (
  { evaluations, ...resolved }: ContinuationOutcomeJSON,
  withTrace: boolean,
): SlimOutcome => ({
  ...snakeKeys(resolved),
  evaluations: withTrace ? evaluations.map((e) => snakeKeys(e)) : [],
});

export const readSlimOutcome = ({
  evaluations,
  ...resolved
}: SlimOutcome): ContinuationOutcomeJSON => ({
  ...camelKeys<Omit<ContinuationOutcomeJSON, 'evaluations'>>(resolved),
  evaluations: evaluations.map((e) => camelKeys<ContinuationEvaluation>(e)),
});

export const readSlimResult = ({
  error,
  approval,
  files,
  content,
  ...result
}: SlimResult): ToolResult => ({
  ...camelKeys<Omit<ToolResult, 'error' | 'approval' | 'files' | 'content'>>(result),
  ...(files ? { files: files.map((file) => camelKeys<PartFacts>(file)) } : null),
  ...(content ? { content: readSlimParts(content) } : null),
  ...(error ? { error: camelKeys<ErrorRecord>(error) } : null),
  ...(approval ? { approval: camelKeys<ApprovalRecord>(approval) } : null),
});

export function readSlimStep(step: SlimStep): AgentStepJSON {
  const {
    tool_calls,
    results,
    errors,
    usage,
    outcome,
    inputs,
    policy,
    children: _,
    ...rest
  } = step;
  return {
    ...camelKeys<
      Omit<AgentStepJSON, 'toolCalls' | 'results' | 'errors' | 'usage' | 'outcome' | 'policy'>
    >(rest),
    toolCalls: tool_calls.map(readSlimCall),
    results: results.map(readSlimResult),
    errors: errors.map((error) => camelKeys<ErrorRecord>(error)),
    usage: camelKeys<Usage>(usage),
    ...(policy && { policy: readSlimPolicy(policy) }),
    outcome: outcome && readSlimOutcome(outcome),
    ...(inputs && { inputs: readSlimInputs(inputs) }),
  };
}
