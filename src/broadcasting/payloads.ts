import { statusFacts, type AgentStatus, type BroadcastStatus } from '../agent/agent-status.ts';
import type { GrantRecord } from '../continuation/grant-allowance.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import type { AgentEventType, EventOf } from '../events/agent-event.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { PartFacts } from '../messages/part-facts.ts';
import { visibleJson } from '../visible-text.ts';
import type { BroadcastSettings } from './broadcast-config.ts';
import type {
  TruncatedValue,
  EnvelopePayloads,
  EnvelopeType,
  WireFile,
  WireGrant,
} from './envelope.ts';
import { refOf, summaryRef } from './envelope-ref.ts';
import { pausePayload, stopTexts } from './stop-message.ts';
import { wireEvaluation } from './wire-evaluation.ts';
import { clip, jsonText } from './wire-text.ts';

type Payload<T extends EnvelopeType> = EnvelopePayloads[T];
export type PayloadOf<T extends EnvelopeType, E extends AgentEventType> = (
  event: EventOf<E>,
  config: BroadcastSettings,
  seq: number,
) => Payload<T>;

/** A log of an older version may lack these fields. */
const broadcastOf = (status: string | undefined, stopReason?: StopReason | null): BroadcastStatus =>
  (statusFacts(status as AgentStatus, stopReason ?? null) ?? statusFacts('pending', null))
    .broadcast;

export const started: PayloadOf<'agent.status', 'AgentStarted'> = (event) => ({
  status: broadcastOf('in_progress'),
  previous_status: broadcastOf(event.previousStatus, event.previousStopReason),
  step_count: event.stepCount ?? 0,
  ...(event.grant && { grant: wireGrant(event.grant) }),
});

const wireGrant = ({ grant: amounts, by, authority, at }: GrantRecord): WireGrant => ({
  amounts,
  by,
  authority,
  at,
});

export const paused: PayloadOf<'agent.status', 'AgentPaused'> = (event) => {
  // a handover is no pause: another worker continues the run
  const isHandover = event.kind === 'handover';
  const head = {
    status: broadcastOf(isHandover ? 'in_progress' : 'paused'),
    previous_status: broadcastOf('in_progress'),
    step_count: event.stepCount,
  };
  return isHandover ? head : { ...head, ...pausePayload(event) };
};

export const ended = (
  event: EventOf<'AgentFinished'> | EventOf<'AgentFailed'>,
): Payload<'agent.status'> => {
  const { status, stopReason, stepCount, outcome, outputText } = event;
  const { stop_message, explanation } = stopTexts(outcome, status);
  return {
    status: statusFacts(status, stopReason).broadcast,
    previous_status: broadcastOf(event.previousStatus ?? 'in_progress'),
    step_count: stepCount,
    stop_reason: stopReason,
    stop_message,
    resolved_by: outcome?.resolvedBy ?? null,
    remedy: outcome?.decisive?.remedy ?? null,
    error_message: (event.type === 'AgentFailed' && event.error?.message) || null,
    last_response: outputText || null,
    explanation,
  };
};

export const message: PayloadOf<'agent.message', 'MessageAdded'> = (
  event,
  { includeReasoning },
) => ({
  message_id: event.messageId,
  role: event.role,
  content: event.content,
  ...(event.files && { files: event.files.map(wireFile) }),
  step: event.stepNumber,
  ...(includeReasoning && event.reasoning !== undefined && { reasoning: event.reasoning }),
});

export const stepStarted: PayloadOf<'agent.step.started', 'AgentStepStarted'> = (event) => ({
  step: event.stepNumber,
  message_count: event.messageCount,
  available_tools: event.availableTools,
});

export const stepCompleted: PayloadOf<'agent.step.completed', 'AgentStepCompleted'> = (
  { stepNumber, hasToolCalls, errorCount, finishReason, usage, durationMs, outcome },
  { includeContinuationTrace },
) => {
  const { input, output, total } = usage;
  const payload = {
    step: stepNumber,
    has_tool_calls: hasToolCalls,
    errors: errorCount,
    finish_reason: finishReason,
    usage: { input, output, total },
    duration_ms: durationMs,
  };
  if (!includeContinuationTrace || !outcome) return payload;
  const { shouldContinue, stopReason, resolvedBy } = outcome;
  return {
    ...payload,
    continuation: {
      should_continue: shouldContinue,
      stop_reason: stopReason,
      resolved_by: resolvedBy,
    },
  };
};

export const toolStarted: PayloadOf<'agent.tool.started', 'ToolCallStarted'> = (
  { tool, toolCallId, args },
  { includeToolArgs, maxArgLength },
) => {
  const args_summary = summaryOf(args, maxArgLength);
  return includeToolArgs
    ? { tool, tool_call_id: toolCallId, args_summary, args }
    : { tool, tool_call_id: toolCallId, args_summary };
};

/** Returns a summary for users; invisible characters are escaped as in JSON. */
const summaryOf = (args: JsonObject | string, max: number): string =>
  clip(visibleJson(typeof args === 'string' ? args : jsonText(args, max)), max);

export const toolCompleted: PayloadOf<'agent.tool.completed', 'ToolCallCompleted'> = (
  event,
  { maxResultLength, maxArgLength, includeToolArgs },
  seq,
) => ({
  tool: event.tool,
  tool_call_id: event.toolCallId,
  success: event.success,
  error: event.error === null ? null : clip(event.error, maxResultLength),
  ...(event.errorCode !== undefined && { error_code: event.errorCode }),
  duration_ms: event.durationMs,
  result_summary: resultSummary(event.result, maxResultLength, event.executionId, seq),
  ...(event.files && { files: event.files.map(wireFile) }),
  ...(event.args !== undefined && {
    args_summary: summaryOf(event.args, maxArgLength),
    ...(includeToolArgs && { args: event.args }),
  }),
});

function wireFile(facts: PartFacts): WireFile {
  const { mediaType, hash: _, ...file } = facts;
  return { ...file, ...(mediaType !== undefined && { media_type: mediaType }) };
}

export const toolProgress: PayloadOf<'agent.tool.progress', 'ToolProgress'> = ({
  tool,
  toolCallId,
  message: text,
  progress,
  total,
}) => ({
  tool,
  tool_call_id: toolCallId,
  ...(text !== undefined && { message: text }),
  ...(progress !== undefined && { progress }),
  ...(total !== undefined && { total }),
});

/** Adds a ref to a result that is longer than its summary. */
function resultSummary(
  result: JsonValue,
  max: number,
  executionId: string,
  seq: number,
): string | TruncatedValue {
  const text = typeof result === 'string' ? result : jsonText(result, max);
  if (text.length <= max) return text;
  return { summary: clip(text, max), ref: refOf(executionId, seq, 'result') };
}

export const approvalRequested: PayloadOf<'agent.approval.requested', 'ToolApprovalRequested'> = (
  { tool, toolCallId, args, argsHash, hidden },
  { maxArgLength },
) => ({
  tool,
  tool_call_id: toolCallId,
  args,
  ...(argsHash !== undefined && { args_hash: argsHash }),
  args_summary: summaryOf(args, maxArgLength),
  ...(hidden && { hidden }),
});

export const inputRequested: PayloadOf<'agent.input.requested', 'ToolInputRequested'> = ({
  tool,
  toolCallId,
  inputId,
  key,
  message: asked,
  schema,
  url,
}) => ({
  tool,
  tool_call_id: toolCallId,
  input_id: inputId,
  key,
  message: asked,
  ...(schema && { schema }),
  ...(url !== undefined && { url }),
});

export const continuation: PayloadOf<'agent.continuation', 'ContinuationEvaluated'> = ({
  stepNumber,
  outcome,
}) => ({
  step: stepNumber,
  should_continue: outcome.shouldContinue,
  stop_reason: outcome.stopReason,
  resolved_by: outcome.resolvedBy,
  evaluations: outcome.evaluations.map(wireEvaluation),
});

export const modelFallback: PayloadOf<'agent.model.fallback', 'ModelFallback'> = ({
  stepNumber,
  attempt,
  from,
  to,
  code,
  reason,
}) => ({ step: stepNumber, attempt, from, to, error_code: code, reason });

export const compacted: PayloadOf<'agent.context.compacted', 'ContextCompacted'> = ({
  stepNumber,
  id,
  kind,
  reason,
  messages,
  tokensBefore,
  tokensAfter,
}) => ({
  step: stepNumber,
  kind,
  reason,
  compaction_id: id,
  ...(kind === 'summary' && { summary_ref: summaryRef(id) }),
  messages,
  tokens_before: tokensBefore,
  tokens_after: tokensAfter,
});

export const discarded: PayloadOf<'agent.stream.discarded', 'StreamDiscarded'> = ({
  stepNumber,
  attempt,
}) => ({ step: stepNumber, attempt });
