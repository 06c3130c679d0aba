export { type TraceCall } from './read-nested.ts';
export { compareRuns, readModelCall, readPayload, readToolCalls } from './read-on-demand.ts';
export { readTrace, type ReadTraceOptions } from './read-trace.ts';
export type { CompareOptions } from './compare/read-comparison.ts';
export type {
  Cause,
  ComparedAnswer,
  ComparedRow,
  ComparedRun,
  ComparedSame,
  ComparedStep,
  Comparison,
  Difference,
  RequestPlace,
} from './compare/comparison.ts';
export type { ModelCallQuery } from './payloads/read-model-call.ts';
export type { PayloadQuery, PayloadRange } from './payloads/read-payload.ts';
export type { StepPlace } from './payloads/step-place.ts';
export type { PayloadText } from './payloads/payload-text.ts';
export type {
  ModelCallDocument,
  PayloadCall,
  RequestDocument,
  RequestMessage,
  RequestPart,
  ResponseDocument,
} from './payloads/model-call-document.ts';
export type {
  ArgumentEdit,
  ToolCallDocument,
  ToolCallsDocument,
} from './payloads/tool-call-document.ts';
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
