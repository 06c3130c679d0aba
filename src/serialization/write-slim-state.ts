import { AgentState } from '../agent/agent-state.ts';
import { isOpen } from '../agent/agent-status.ts';
import type { AgentStep, UnfinishedStep } from '../agent/agent-step.ts';
import type { Execution } from '../agent/execution.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import { versionOf } from '../agent/state-migrations.ts';
import { isSpent } from '../continuation/facts.ts';
import { needsCounts } from '../continuation/retry-account.ts';
import type { PendingApproval } from '../events/agent-event.ts';
import { toJsonValue, type JsonObject, type JsonValue } from '../json.ts';
import { resultText } from '../tools/tool-result.ts';
import { TruncationReport } from './truncation-report.ts';
import { truncateText } from './truncate-text.ts';
import type { StateRedactor } from './state-redactor.ts';
import { slimCompactions } from './slim-compactions.ts';
import { slimMessage, type Writing } from './slim-message.ts';
import type { SlimLimits } from './slim-serialization-config.ts';
import { SLIM_VERSION, type SlimApproval, type SlimRest, type SlimState } from './slim-state.ts';
import type { SlimMessage, SlimStep } from './slim-state.ts';
import { slimResult, slimStep } from './slim-step.ts';
import { slimInputs, slimPending } from './slim-inputs.ts';
import { slimRun } from './slim-records.ts';
import { snakeKeys } from './snake-keys.ts';
import { selectTurns } from './turns.ts';

/** Writes the document within `limits`, and reports omitted data in `truncated`. */
export function writeSlimState(
  state: AgentState,
  limits: SlimLimits,
  redactor: StateRedactor,
): SlimState {
  const writing: Writing = { limits, redactor, report: new TruncationReport() };
  const { info, execution, pause, lastContinuationOutcome: outcome } = state;
  const usage = snakeKeys(execution.usage);
  const { messages, kept, firstMessage } = slimMessages(state, writing);
  const { steps, currentStep } = slimSteps(state, writing, messages);
  const pendingApprovals = slimApprovals(state.pendingApprovals, writing);
  const metadata = slimMetadata(state, writing);
  const compactions = slimCompactions(state, kept, writing);
  const rest = {
    ...slimRest(state, writing, firstMessage),
    ...(compactions.length > 0 && { compactions }),
  };
  return {
    version: versionOf(state) === 1 ? 1 : SLIM_VERSION,
    agent_id: state.agentId,
    agent_name: state.agentName,
    parent_agent_id: state.parentAgentId,
    status: state.status,
    step_count: execution.stepCount,
    usage,
    session: {
      started_at: info.startedAt,
      step_count: info.stepCount,
      usage: snakeKeys(info.usage),
      cost: info.cost,
    },
    execution: {
      id: execution.id,
      started_at: execution.startedAt,
      updated_at: execution.updatedAt,
      step_count: execution.stepCount,
      answered_steps: execution.answeredSteps,
      usage,
      cost: execution.cost,
      consecutive_failures: execution.consecutiveFailures,
      total_failures: execution.totalFailures,
      cumulative_seconds: execution.cumulativeSeconds,
      session_cumulative_seconds: info.cumulativeExecutionSeconds,
      grants: execution.grants,
    },
    pause: pause && { kind: pause.kind, at: pause.at },
    messages,
    steps,
    current_step: currentStep,
    pending_approvals: pendingApprovals,
    ...(state.pendingInputs.length > 0 && {
      pending_inputs: slimPending(state.pendingInputs, writing),
    }),
    last_continuation: outcome && {
      should_continue: outcome.shouldContinue,
      stop_reason: outcome.stopReason,
      resolved_by: outcome.resolvedBy,
    },
    metadata,
    truncated: writing.report.toJSON(canContinue(state)),
    rest,
  };
}

/** Whether the execution is open, or a grant can reopen it. */
const canContinue = ({ status, lastContinuationOutcome }: AgentState): boolean =>
  isOpen(status) ||
  (status !== 'pending' && lastContinuationOutcome?.decisive?.remedy?.grant !== undefined);

function slimMessages(
  { messages, execution }: AgentState,
  writing: Writing,
): {
  readonly messages: readonly SlimMessage[];
  /** Their positions in the conversation. */
  readonly kept: readonly number[];
  readonly firstMessage: number;
} {
  const { report, limits } = writing;
  const all = messages.slice(0);
  const { kept, droppedTurns, turnOverLimit } = selectTurns(all, limits);
  const ofExecution = (place: number): boolean => place >= execution.firstMessage;
  report.turns = droppedTurns;
  report.messages = all.length - kept.length;
  report.turnOverLimit = turnOverLimit;
  report.needed.messages =
    all.length - Math.min(all.length, execution.firstMessage) - kept.filter(ofExecution).length;
  const firstMessage = kept.findIndex(ofExecution);
  return {
    kept,
    messages: kept.flatMap((place) => {
      const message = all[place];
      if (!message) return [];
      return [slimMessage(message, writing, ofExecution(place) || message.isSystem())];
    }),
    firstMessage: firstMessage < 0 ? kept.length : firstMessage,
  };
}

function slimSteps(
  state: AgentState,
  writing: Writing,
  messages: readonly SlimMessage[],
): { readonly steps: readonly SlimStep[]; readonly currentStep: SlimStep | null } {
  const { limits, report } = writing;
  const { steps, unfinishedStep, currentStep, execution } = state;
  const kept = limits.includeAllSteps ? stepsOf(state, limits, messages) : [];
  const hasCurrent = limits.includeAllSteps || limits.includeCurrentStep;
  const isSingle = hasCurrent && kept.length === 0 && !unfinishedStep && currentStep !== null;
  report.steps =
    steps.length - kept.length - (isSingle ? 1 : 0) + (unfinishedStep && !hasCurrent ? 1 : 0);
  if (!hasCurrent && currentStep?.executionId === execution.id) report.missing('the current step');
  const finished = kept.map((step) => slimStep(step, writing, false));
  if (!hasCurrent || currentStep === null) return { steps: finished, currentStep: null };
  if (unfinishedStep)
    return { steps: finished, currentStep: slimUnfinished(unfinishedStep, writing) };
  return { steps: finished, currentStep: finished.at(-1) ?? slimStep(currentStep, writing, false) };
}

/** Steps to keep: if older turns were removed, their steps are removed too. */
function stepsOf(
  { steps }: AgentState,
  { maxTurns }: SlimLimits,
  messages: readonly SlimMessage[],
): readonly AgentStep[] {
  const all = steps.toJSON();
  if (maxTurns === null) return all;
  const ids = new Set(messages.map(({ id }) => id));
  const first = all.findIndex((step) => step.messageIds.some((id) => ids.has(id)));
  return first < 0 ? all.slice(-1) : all.slice(first);
}

function slimUnfinished(step: UnfinishedStep, writing: Writing): SlimStep {
  const { limits, redactor, report } = writing;
  const { inputs: asked, ...bare } = step;
  const inputs = slimInputs(asked, writing);
  const children = Object.entries(step.children).map(([callId, json]) => {
    const child = writeSlimState(AgentState.from(json), limits, redactor);
    for (const what of child.truncated?.missing ?? [])
      report.missing(`${what} (of the agent in ${callId})`);
    return [callId, child] as const;
  });
  return {
    ...slimStep(bare, writing, true),
    ...(inputs && { inputs }),
    children: Object.fromEntries(children),
  };
}

const slimApprovals = (
  approvals: readonly PendingApproval[],
  { limits, redactor, report }: Writing,
): readonly SlimApproval[] =>
  approvals.map((approval) => {
    const { value: args, hidden } = redactor.free(approval.args);
    report.secretsHidden(hidden, true);
    const paths = hidden > 0 ? redactor.hiddenIn(approval.args) : [];
    const shown = { ...approval, ...(paths.length > 0 && { hidden: paths }) };
    if (limits.includeToolArgs || Object.keys(args).length === 0)
      return snakeKeys({ ...shown, args });
    report.argsCut(approval.tool, true);
    return { ...snakeKeys({ ...shown, args: {} }), args_omitted: true };
  });

function slimMetadata({ metadata }: AgentState, { limits, redactor, report }: Writing): JsonObject {
  if (!limits.includeMetadata) {
    if (Object.keys(metadata).length > 0) report.metadataCut('the state');
    return {};
  }
  const { value, hidden } = redactor.free(metadata);
  report.secretsHidden(hidden, true);
  return value;
}

function slimRest(state: AgentState, writing: Writing, firstMessage: number): SlimRest {
  const { info, execution, pause, lastContinuationOutcome: outcome, unfinishedStep } = state;
  const { limits, redactor, report } = writing;
  const shown = <T>(value: T): T => {
    const redacted = redactor.free(value);
    report.secretsHidden(redacted.hidden, false);
    return redacted.value;
  };
  const evaluations = (outcome?.evaluations ?? []).filter(
    (e) =>
      limits.includeContinuationTrace ||
      e === outcome?.decisive ||
      e.decision === 'forbid' ||
      (e.facts?.kind === 'limit' && isSpent(e.facts)),
  );
  const isStepLeftOut = !limits.includeAllSteps && !limits.includeCurrentStep;
  const isText = state.output !== null && state.output === state.outputText;
  const leftOut = isStepLeftOut && unfinishedStep ? redactor.step(unfinishedStep) : null;
  report.secretsHidden(leftOut?.hidden ?? 0, true);
  return {
    session_updated_at: info.updatedAt,
    session_answered_steps: info.answeredSteps,
    first_message: firstMessage,
    handled_step: execution.handledStep,
    succeeded_tools: execution.succeededTools,
    ...(execution.grantLog && { grant_log: execution.grantLog }),
    ...(execution.family && { family: execution.family }),
    ...(execution.runs && { runs: shown(execution.runs).map(slimRun) }),
    ...(execution.traceparent !== undefined && { traceparent: execution.traceparent }),
    ...(needsCounts(execution) && { failures: slimFailures(execution) }),
    stop_request: shown(execution.stopRequest),
    pause_reason: shown(pause?.reason ?? null),
    decision: outcome?.decision ?? null,
    ...(outcome?.at && { outcome_at: outcome.at }),
    ...(outcome?.stoppedAgents && { stopped_agents: outcome.stoppedAgents }),
    ...(outcome?.deniedCalls && { denied_calls: shown(outcome.deniedCalls) }),
    evaluations: evaluations.map((e) => slimEvaluation(e, writing)),
    output_is_text: isText,
    output: isText ? null : slimValue(shown(state.output), writing),
    partial_output: slimValue(shown(state.partialOutput), writing),
    results: (leftOut?.value.results ?? []).map((result) => slimResult(result, writing, true)),
  };
}

const slimFailures = ({
  modelFailures: model_failures,
  toolFailures: tool_failures,
  failingTools: failing_tools,
}: Execution): NonNullable<SlimRest['failures']> => ({
  model_failures,
  tool_failures,
  ...(failing_tools && { failing_tools }),
});

function slimEvaluation(
  evaluation: ContinuationEvaluation,
  { redactor, report }: Writing,
): SlimRest['evaluations'][number] {
  const { value, hidden } = redactor.evaluation(evaluation);
  report.secretsHidden(hidden, false);
  return snakeKeys(value);
}

/** Truncates a text. Drops a structured value that is too long, because a part would not match its schema. */
function slimValue(output: unknown, { limits, report }: Writing): JsonValue {
  const value = toJsonValue(output);
  const text = resultText(value);
  const cut = truncateText(text, limits.maxContentLength);
  if (cut === text) return value;
  report.contents += 1;
  return typeof value === 'string' ? cut : null;
}
