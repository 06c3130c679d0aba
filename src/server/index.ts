export { agentServer } from './agent-server.ts';
export type { AgentServer, AgentServerOptions } from './server-options.ts';
export type { AgentEntry } from './agent-entry.ts';
export type { AgentInfo, ApiError, ServerInfo, SessionDetail, SessionSummary } from './api.ts';
export type { AdminHook } from './admin-gate.ts';
export type { MessagePage } from './read-messages.ts';
export type { Cors } from './site-rules.ts';
export type { RateLimit } from './rate-limit.ts';
export {
  compareRuns,
  readModelCall,
  readPayload,
  readToolCalls,
  readTrace,
  reasonText,
  searchSessions,
  stopSentence,
  type ReadTraceOptions,
  type SearchSessionsOptions,
  type SessionSearchPage,
  type StopAction,
  type StopFacts,
  type StopSentence,
  type Comparison,
  type CompareOptions,
  type ModelCallDocument,
  type ModelCallQuery,
  type PayloadQuery,
  type PayloadRange,
  type PayloadText,
  type StepPlace,
  type ToolCallsDocument,
  type Trace,
  type TraceAncestor,
  type TraceBar,
  type TraceCall,
  type TraceChild,
  type TraceExecution,
  type TraceMeter,
  type TraceNesting,
  type TracePause,
  type TraceStep,
  type TraceTotals,
} from '../trace/index.ts';
export {
  sessionOperator,
  type ParkedSession,
  type SessionOperator,
} from '../sessions/session-operator.ts';
export type { QueueView } from '../sessions/queue-view.ts';
export type { WorkerView } from '../sessions/worker-view.ts';
