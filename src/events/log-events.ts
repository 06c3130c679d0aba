import { explainOutcome } from '../continuation/explain-outcome.ts';
import { visibleValue } from '../visible-text.ts';
import {
  isNumbered,
  type AgentEvent,
  type AgentEventType,
  type EventListener,
} from './agent-event.ts';
import { describeEvent } from './describe-event.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** The part of pino that we call; `console` fits too. */
export type Logger = { readonly [L in Level]: (fields: object, message: string) => void };

const levels: Partial<Record<AgentEventType, Level>> = {
  AgentStarted: 'info',
  AgentPaused: 'info',
  AgentFinished: 'info',
  ContinuationEvaluated: 'info',
  StepFailed: 'warn',
  AgentFailed: 'error',
};

/** A wiretap that logs: `agent.wiretap(logEvents(pino()))`. Chunks and deltas are left out unless asked for. */
export const logEvents =
  (logger: Logger, { deltas = false }: { readonly deltas?: boolean } = {}): EventListener =>
  (event) => {
    if (!deltas && !isNumbered(event.type)) return;
    const failedTool = event.type === 'ToolCallCompleted' && !event.success;
    const level = failedTool ? 'warn' : (levels[event.type] ?? 'debug');
    logger[level](visibleValue(fieldsOf(event)) as object, describeEvent(event)); // an object stays one
  };

/** The last event of a run carries what there is to do about it. */
const isEnd = ({ type }: AgentEvent): boolean => type === 'AgentFinished' || type === 'AgentFailed';

/** Outcomes are logged in short: which criterion decided and why, not all of them. */
function fieldsOf(event: AgentEvent): object {
  if (!('outcome' in event) || event.outcome === null) return event;
  const { shouldContinue, stopReason, resolvedBy, decisive } = event.outcome;
  return {
    ...event,
    outcome: { shouldContinue, stopReason, resolvedBy, reason: decisive?.reason },
    ...(isEnd(event) && { explanation: explainOutcome(event.outcome) }),
  };
}
