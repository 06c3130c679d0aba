// messages
export { Message, type MessageInput, type MessageJSON } from './messages/message.ts';
export { MessageRole } from './messages/message-role.ts';
export { Messages } from './messages/messages.ts';
export type {
  ContentPart,
  FilePart,
  ImagePart,
  MessageContent,
  TextPart,
} from './messages/content-part.ts';
export type { ToolCall } from './messages/tool-call.ts';
export { pairingProblem } from './messages/pairing.ts';

// errors
export { AgentError, type ErrorCode } from './errors/agent-error.ts';
export { ErrorContext } from './errors/error-context.ts';
export { ErrorPolicy, type Backoff, type ErrorPolicyJSON } from './errors/error-policy.ts';
export type { ErrorRecord, ErrorReport } from './errors/error-record.ts';
export { ErrorHandlingDecision, ErrorType } from './errors/error-type.ts';
export { createRedactor, type Redactor, type RedactorOptions } from './errors/redactor.ts';

// tools
export { defineTool, type ToolSpec } from './tools/define-tool.ts';
export type { AnySchema, InputOf, JsonSchema, OutputOf, StandardSchema } from './tools/schema.ts';
export type {
  AnyTool,
  Call,
  CallsOf,
  DepsOf,
  Tool,
  ToolContext,
  ToolSchema,
} from './tools/tool.ts';
export type { ApprovalRecord, ToolResult, ToolResultKind } from './tools/tool-result.ts';

// continuation
export { ContinuationCriteria } from './continuation/continuation-criteria.ts';
export type { ContinuationCriterion, CriterionContext } from './continuation/criterion.ts';
export { ContinuationDecision } from './continuation/decision.ts';
export {
  agentErrorContextResolver,
  type ErrorContextResolver,
} from './continuation/error-context-resolver.ts';
export { ContinuationEvaluation, type Remedy } from './continuation/evaluation.ts';
export type { FamilyShare } from './continuation/family-share.ts';
export { explainOutcome } from './continuation/explain-outcome.ts';
export { explainState } from './continuation/explain-state.ts';
export type { Explanation, ExplanationAction } from './continuation/explanation.ts';
export type { EvaluationFacts } from './continuation/facts.ts';
export type { GrantAllowance, GrantRecord } from './continuation/grant-allowance.ts';
export type { Grants } from './continuation/grants.ts';
export { ContinuationOutcome, type ContinuationOutcomeJSON } from './continuation/outcome.ts';
export { StopReason } from './continuation/stop-reason.ts';
export { costLimit, sessionCostLimit } from './continuation/criteria/cost-limit.ts';
export { errorPolicyCriterion } from './continuation/criteria/error-policy-criterion.ts';
export { finishReasonCheck } from './continuation/criteria/finish-reason-check.ts';
export { limitCriterion, type LimitSpec } from './continuation/criteria/limit.ts';
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
export type {
  FinishReason,
  InferenceChunk,
  InferenceDriver,
  InferenceRequest,
  InferenceResponse,
  InferredToolCall,
  ToolChoice,
} from './inference/inference-driver.ts';
export { modelCallFailed } from './inference/inference-error.ts';
export {
  createModelRegistry,
  type ModelFactory,
  type ModelInput,
  type ModelRegistry,
} from './inference/model-registry.ts';
export { listPrices, type Price, type PriceTable } from './inference/prices.ts';
export type { Usage } from './inference/usage.ts';

// events
export type {
  AgentEvent,
  AgentEventType,
  EventListener,
  EventOf,
  PendingApproval,
} from './events/agent-event.ts';
export { describeEvent } from './events/describe-event.ts';
export { logEvents, type Logger } from './events/log-events.ts';

// agent
export {
  createAgent,
  type Agent,
  type AgentDeps,
  type AgentOutput,
  type AnyAgent,
  type ResumeInput,
} from './agent/agent.ts';
export type { FailedCall, RunStream, ToolCallRecord } from './agent/run-stream.ts';
export type { AgentDescription } from './agent/describe-agent.ts';
export { AgentBuilder } from './agent/agent-builder.ts';
export type { AgentOptions } from './agent/agent-options.ts';
export {
  AgentState,
  type AgentStateJSON,
  type AgentStepJSON,
  type Pause,
} from './agent/agent-state.ts';
export { AgentStatus, statusFacts, type PauseKind } from './agent/agent-status.ts';
export type { AgentStep, StepType } from './agent/agent-step.ts';
export type { ApprovalAnswer, ApprovalBinding, Approvals } from './agent/approval-answer.ts';
export type { RunInput } from './agent/enter-run.ts';
export type { Execution, SessionInfo } from './agent/execution.ts';
export {
  defineCapability,
  type AnyCapability,
  type Capability,
  type Hook,
  type HookContext,
} from './agent/hooks.ts';
export type { AsToolOptions } from './agent/nested-agent.ts';
export type { ResumeOptions, RunOptions, WithDeps } from './agent/run.ts';
export type { Clock } from './clock.ts';
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
export type { FollowOptions } from './sessions/feed/follow-session.ts';
export type { FeedGap, FollowedEvent, LogPosition } from './sessions/feed/live-source.ts';
export {
  inProcessQueue,
  type ExecutionQueue,
  type InProcessQueueOptions,
} from './sessions/execution-queue.ts';
export type { GrantPolicy, GrantQuestion } from './sessions/grant-policy.ts';
export type { LeaseTimes } from './sessions/lease-keeper.ts';
export type { Accounts, HistoryPage, LogPage } from './sessions/session-reads.ts';
export type {
  CreateOptions,
  ListSessionsOptions,
  OwnerOptions,
  ResumeSessionOptions,
  RetryOptions,
  SendOptions,
  SessionRuntimeOptions,
} from './sessions/session-options.ts';
export type { AnySessionRuntime, SessionHandle, SessionOf } from './sessions/session-handle.ts';
export { SessionRuntime } from './sessions/session-runtime.ts';
export type {
  AgentRow,
  BlobRow,
  CallRow,
  CallState,
  CommandRow,
  EventRow,
  MessageRow,
  NewSessionRow,
  SessionPhase,
  SessionRow,
  StepRow,
} from './sessions/session-rows.ts';
export type {
  CallWrite,
  Commit,
  CommitReceipt,
  LeaseSignal,
  RenewedLease,
  RowRange,
  SessionQuery,
  SessionStore,
  StoreCodec,
} from './sessions/session-store.ts';
export type { SessionEvent } from './sessions/session-worker.ts';
export type { Session, SessionPage } from './sessions/session.ts';
