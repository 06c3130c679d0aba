import type { AgentEvent, AgentEventType, EventOf } from '../events/agent-event.ts';
import { own } from '../json.ts';
import type { BroadcastSettings } from './broadcast-config.ts';
import type { Envelope, EnvelopeType } from './envelope.ts';
import { fitPayload } from './fit-payload.ts';
import { envelopeBudget, HEAD_BYTES, wireBytes } from './frame-budget.ts';
import {
  approvalRequested,
  compacted,
  continuation,
  discarded,
  ended,
  inputRequested,
  message,
  modelFallback,
  paused,
  started,
  stepCompleted,
  stepStarted,
  toolCompleted,
  toolProgress,
  toolStarted,
  type PayloadOf,
} from './payloads.ts';

/** Creates the envelope of a numbered event; null if the config or the event type excludes it. */
export type EnvelopeOfEvent = (
  event: AgentEvent,
  sessionId: string,
  seq: number,
  prev: number,
) => Envelope | null;

interface Rule {
  readonly type: EnvelopeType;
  readonly payload: PayloadOf<EnvelopeType, AgentEventType>;
}
type Rules = Partial<Record<AgentEventType, Rule>>;

function rule<T extends EnvelopeType, E extends AgentEventType>(
  type: T,
  payload: PayloadOf<T, E>,
): Rule {
  return { type, payload: payload as unknown as Rule['payload'] }; // the table pairs the payload
  // with its event
}

const always: Rules = {
  AgentStarted: rule('agent.status', started),
  AgentPaused: rule('agent.status', paused),
  AgentFinished: rule('agent.status', ended),
  AgentFailed: rule('agent.status', ended),
  MessageAdded: rule('agent.message', message),
};
const steps: Rules = {
  AgentStepStarted: rule('agent.step.started', stepStarted),
  AgentStepCompleted: rule('agent.step.completed', stepCompleted),
  ModelFallback: rule('agent.model.fallback', modelFallback),
  ContextCompacted: rule('agent.context.compacted', compacted),
};
const tools: Rules = {
  ToolCallStarted: rule('agent.tool.started', toolStarted),
  ToolProgress: rule('agent.tool.progress', toolProgress),
  ToolCallCompleted: rule('agent.tool.completed', toolCompleted),
  ToolApprovalRequested: rule('agent.approval.requested', approvalRequested),
  ToolInputRequested: rule('agent.input.requested', inputRequested),
};
const trace: Rules = { ContinuationEvaluated: rule('agent.continuation', continuation) };
const stream: Rules = { StreamDiscarded: rule('agent.stream.discarded', discarded) };

const made = new WeakMap<BroadcastSettings, EnvelopeOfEvent>();

/** Returns the mapping from events to envelopes. Live events and logged events use the same one. */
export function envelopeOf(config: BroadcastSettings): EnvelopeOfEvent {
  const known = made.get(config);
  if (known) return known;
  const rules: Rules = {
    ...always,
    ...(config.includeSteps && steps),
    ...(config.includeTools && tools),
    ...(config.includeContinuationTrace && trace),
    ...(config.includeStream && stream),
  };
  const budget = envelopeBudget(config.frameBytes);
  const map: EnvelopeOfEvent = (event, sessionId, seq, prev) => {
    const found = own(rules, event.type);
    if (found === undefined) return null;
    const { type } = found;
    if (!config.includeReasoning && event.type === 'MessageAdded' && hasOnlyReasoning(event))
      return null;
    // a nested agent does not end its parent
    if (type === 'agent.status' && event.parentAgentId !== null) return null;
    const { executionId } = event;
    const space = budget - HEAD_BYTES - headBytes(sessionId, event);
    const payload = fitPayload(type, found.payload(event, config, seq), space, {
      executionId,
      seq,
    });
    return assembled(type, event, sessionId, seq, prev, payload);
  };
  made.set(config, map);
  return map;
}

/** Whether the message has only tool calls and reasoning, and no text. */
const hasOnlyReasoning = ({ role, content }: EventOf<'MessageAdded'>): boolean =>
  role === 'assistant' && content.trim() === '';

let measured = '';
let measuredBytes = 0;

/** Cached bytes of the last ids: they stay the same during a run. */
function headBytes(sessionId: string, { executionId, agentId, parentAgentId }: AgentEvent): number {
  if (executionId !== measured) {
    measuredBytes = wireBytes(executionId);
    measured = executionId;
  }
  return measuredBytes + sessionId.length + agentId.length + (parentAgentId?.length ?? 0);
}

export function assembled(
  type: EnvelopeType,
  { executionId, agentId, parentAgentId, at }: AgentEvent,
  sessionId: string,
  seq: number | null,
  prev: number | null,
  payload: Envelope['payload'],
): Envelope {
  const envelope =
    parentAgentId === null
      ? {
          type,
          session_id: sessionId,
          execution_id: executionId,
          agent_id: agentId,
          seq,
          prev,
          timestamp: at,
          payload,
        }
      : {
          type,
          session_id: sessionId,
          execution_id: executionId,
          agent_id: agentId,
          parent_agent_id: parentAgentId,
          seq,
          prev,
          timestamp: at,
          payload,
        };
  return envelope as Envelope; // the rule above paired type and payload
}
