export { agentServer } from './agent-server.ts';
export type { AgentServer, AgentServerOptions } from './server-options.ts';
export type { AgentEntry } from './agent-entry.ts';
export type { AgentInfo, ApiError, ServerInfo, SessionDetail, SessionSummary } from './api.ts';
export type { MessagePage } from './read-messages.ts';
export type { Cors } from './site-rules.ts';
export type { RateLimit } from './rate-limit.ts';
export {
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
  type Trace,
  type TraceBar,
  type TraceExecution,
  type TraceMeter,
  type TracePause,
  type TraceStep,
  type TraceTotals,
} from '../trace/index.ts';
