// messages
export { Message, type MessageJSON } from './messages/message.ts';
export { MessageRole } from './messages/message-role.ts';
export { Messages } from './messages/messages.ts';
export type { CacheMark } from './messages/cache-mark.ts';
export type { ContentPart } from './messages/content-part.ts';
export type { ToolCall } from './messages/tool-call.ts';

// errors
export { AgentError } from './errors/agent-error.ts';
export { ErrorContext } from './errors/error-context.ts';
export { ErrorPolicy } from './errors/error-policy.ts';
export type { ErrorRecord } from './errors/error-record.ts';
export { ErrorHandlingDecision, ErrorType } from './errors/error-type.ts';
export { createRedactor, type Redactor } from './errors/redactor.ts';

// tools
export { defineTool, type ToolSpec } from './tools/define-tool.ts';
export type { AnySchema, InputOf, JsonSchema, OutputOf } from './tools/schema.ts';
export type { AnyTool, Call, CallsOf, DepsOf, Tool, ToolContext } from './tools/tool.ts';
export { toolContent, type ToolContent, type ToolContentPart } from './tools/tool-content.ts';
export type { ToolResult } from './tools/tool-result.ts';

// continuation
export { ContinuationCriteria } from './continuation/continuation-criteria.ts';
export type { ContinuationCriterion, CriterionContext } from './continuation/criterion.ts';
export { ContinuationDecision } from './continuation/decision.ts';
export {
  agentErrorContextResolver,
  type ErrorContextResolver,
} from './continuation/error-context-resolver.ts';
export { ContinuationEvaluation } from './continuation/evaluation.ts';
export { explainOutcome } from './continuation/explain-outcome.ts';
export { explainState } from './continuation/explain-state.ts';
export type { Explanation, ExplanationAction } from './continuation/explanation.ts';
export type { EvaluationFacts } from './continuation/facts.ts';
export type { Grants } from './continuation/grants.ts';
export { ContinuationOutcome } from './continuation/outcome.ts';
export { StopReason } from './continuation/stop-reason.ts';
export { costLimit, sessionCostLimit } from './continuation/criteria/cost-limit.ts';
export { errorPolicyCriterion } from './continuation/criteria/error-policy-criterion.ts';
export { finishReasonCheck } from './continuation/criteria/finish-reason-check.ts';
export { limitCriterion } from './continuation/criteria/limit.ts';
export { noProgressLimit } from './continuation/criteria/no-progress-limit.ts';
export { responseContentCheck } from './continuation/criteria/response-content-check.ts';
export {
  familyStepsLimit,
  sessionStepsLimit,
  stepsLimit,
} from './continuation/criteria/steps-limit.ts';
export { stopRequestCheck } from './continuation/criteria/stop-request-check.ts';
export {
  cumulativeExecutionTimeLimit,
  executionTimeLimit,
  sessionTimeLimit,
} from './continuation/criteria/time-limit.ts';
export {
  sessionTokenUsageLimit,
  tokenUsageLimit,
} from './continuation/criteria/token-usage-limit.ts';
export { toolCallPresenceCheck } from './continuation/criteria/tool-call-presence-check.ts';
export { toolCalledCheck } from './continuation/criteria/tool-called-check.ts';

// inference
export type { InferenceDriver } from './inference/inference-driver.ts';
export {
  createModelRegistry,
  type ModelInput,
  type ModelRegistry,
} from './inference/model-registry.ts';
export type { Usage } from './inference/usage.ts';

// events
export type { AgentEvent, EventOf, PendingApproval } from './events/agent-event.ts';
export { describeEvent } from './events/describe-event.ts';
export { logEvents } from './events/log-events.ts';

// agent
export {
  createAgent,
  type Agent,
  type AgentDeps,
  type AgentOutput,
  type AnyAgent,
} from './agent/agent.ts';
export type { RunStream, ToolCallRecord } from './agent/run-stream.ts';
export { AgentBuilder } from './agent/agent-builder.ts';
export type { AgentOptions } from './agent/agent-options.ts';
export { AgentState, type AgentStateJSON } from './agent/agent-state.ts';
export { AgentStatus, type PauseKind } from './agent/agent-status.ts';
export type { AgentStep } from './agent/agent-step.ts';
export type { Approvals } from './agent/approval-answer.ts';
export type { RunInput } from './agent/enter-run.ts';
export {
  defineCapability,
  type AnyCapability,
  type Capability,
  type Hook,
  type HookContext,
} from './agent/hooks.ts';
export type { ResumeOptions, RunOptions, WithDeps } from './agent/run-options.ts';
export type { DeepPartial, JsonObject, JsonValue } from './json.ts';
export type { Stored } from './stored.ts';

// serialization
export {
  SlimAgentStateSerializer,
  type AgentStateSerializer,
} from './serialization/slim-agent-state-serializer.ts';
export { SlimSerializationConfig } from './serialization/slim-serialization-config.ts';
export type { SlimState } from './serialization/slim-state.ts';

// sessions
export type { ExecutionQueue } from './sessions/execution-queue.ts';
export type { FollowedEvent, LogPosition } from './sessions/feed/live-source.ts';
export type { GrantPolicy } from './sessions/grant-policy.ts';
export { inProcessQueue } from './sessions/in-process-queue.ts';
export type { HistoryPage } from './sessions/session-reads.ts';
export type { SessionRuntimeOptions } from './sessions/session-options.ts';
export type { AnySessionRuntime, SessionHandle, SessionOf } from './sessions/session-handle.ts';
export { SessionRuntime } from './sessions/session-runtime.ts';
export type { SessionEvent } from './sessions/session-worker.ts';
export type { Session } from './sessions/session.ts';
