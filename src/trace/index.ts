export { readTrace, type ReadTraceOptions } from './read-trace.ts';
export { reasonText } from './reason-text.ts';
export {
  searchSessions,
  type SearchSessionsOptions,
  type SessionSearchPage,
} from './search-sessions.ts';
export { stopSentence, type StopFacts } from './stop-sentence.ts';
export { stopSentenceOf } from './stop-sentence-of.ts';
export { continuedBecause } from './continued-because.ts';
export type {
  StopAction,
  StopSentence,
  Trace,
  TraceBar,
  TraceExecution,
  TraceMeter,
  TracePause,
  TraceStep,
  TraceTotals,
} from './trace.ts';
