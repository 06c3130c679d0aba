export { type TraceCall } from './read-nested.ts';
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
  TraceAncestor,
  TraceBar,
  TraceChild,
  TraceExecution,
  TraceMeter,
  TraceNesting,
  TracePause,
  TraceStep,
  TraceTotals,
} from './trace.ts';
