import { visibleValue } from '../visible-text.ts';
import {
  isNumbered,
  type AgentEvent,
  type AgentEventType,
  type EventListener,
} from './agent-event.ts';
import { describeEvent } from './describe-event.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** The part of pino that is used; `console` matches too. */
export type Logger = { readonly [L in Level]: (fields: object, message: string) => void };

const levels: Partial<Record<AgentEventType, Level>> = {
  AgentStarted: 'info',
  AgentPaused: 'info',
  AgentFinished: 'info',
  ContinuationEvaluated: 'info',
  StepFailed: 'warn',
  ModelFallback: 'warn',
  ContextCompacted: 'info',
  ToolsChanged: 'info',
  AgentFailed: 'error',
};

/** Creates a wiretap that logs: `agent.wiretap(logEvents(pino()))`. Omits chunks and deltas by default. */
export const logEvents =
  (logger: Logger, { deltas = false }: { readonly deltas?: boolean } = {}): EventListener =>
  (event) => {
    if (!deltas && !isNumbered(event.type)) return;
    const failedTool = event.type === 'ToolCallCompleted' && !event.success;
    const level = failedTool ? 'warn' : (levels[event.type] ?? 'debug');
    // visibleValue maps an object to an object
    logger[level](visibleValue(fieldsOf(event)) as object, describeEvent(event));
  };

/** The last event of a run includes the actions. */
const isEnd = ({ type }: AgentEvent): boolean => type === 'AgentFinished' || type === 'AgentFailed';

/** Logs an outcome briefly: the deciding criterion and its reason, not all evaluations. */
function fieldsOf(event: AgentEvent): object {
  if (!('outcome' in event) || event.outcome === null) return event;
  const { shouldContinue, stopReason, resolvedBy, decisive } = event.outcome;
  return {
    ...event,
    outcome: { shouldContinue, stopReason, resolvedBy, reason: decisive?.reason },
    ...(isEnd(event) && { explanation: event.outcome.explanation() }),
  };
}
