import { statusFacts } from '../../agent/agent-status.ts';
import type { AgentEvent, EventOf } from '../../events/agent-event.ts';
import type { FinishReason } from '../../inference/inference-driver.ts';
import { pausePayload, stopTexts } from '../stop-message.ts';
import type {
  OnwardMetadata,
  OnwardStop,
  UiFinishReason,
  UiMessageChunk,
} from './use-chat-chunk.ts';

type Ended = EventOf<'AgentFinished'> | EventOf<'AgentFailed'>;
export type EndingEvent = Ended | EventOf<'AgentPaused'>;

/** Whether a run stops or pauses with this event. A handover is no end: another process continues. */
export const isEnding = (event: AgentEvent): event is EndingEvent =>
  event.parentAgentId === null &&
  (event.type === 'AgentFinished' ||
    event.type === 'AgentFailed' ||
    (event.type === 'AgentPaused' && event.kind !== 'handover'));

/** How a run stopped or paused, for a UI. */
export interface Ending {
  readonly stop: OnwardStop;
  readonly metadata: OnwardMetadata;
  /** The chunk that closes the stream, unless the run continues in it. */
  readonly closing: readonly UiMessageChunk[];
  /** Whether the user needs the explanation. */
  readonly needsExplanation: boolean;
}

export function endingOf(event: EndingEvent, lastFinish: FinishReason | null): Ending {
  return event.type === 'AgentPaused' ? pauseOf(event) : endOf(event, lastFinish);
}

function pauseOf(event: EventOf<'AgentPaused'>): Ending {
  const { executionId, stepCount, pendingApprovals, pendingInputs = [] } = event;
  const { stop_message: message, remedy, explanation } = pausePayload(event);
  const needsApproval = pendingApprovals.length > 0;
  return {
    stop: {
      status: 'paused',
      stop_reason: null,
      message,
      resolved_by: null,
      remedy,
      step_count: stepCount,
      explanation,
    },
    metadata: { executionId, status: 'paused', stepCount },
    closing: [{ type: 'finish', finishReason: needsApproval ? 'tool-calls' : 'other' }],
    // the calls show that they need approval, and nothing shows a question of a tool
    needsExplanation: !needsApproval || pendingInputs.length > 0,
  };
}

function endOf(event: Ended, lastFinish: FinishReason | null): Ending {
  const { executionId, stopReason, stepCount, outcome, usage, cost } = event;
  const status = statusFacts(event.status, stopReason).broadcast;
  const { stop_message: message, explanation } = stopTexts(outcome, event.status);
  return {
    stop: {
      status,
      stop_reason: stopReason,
      message,
      resolved_by: outcome?.resolvedBy ?? null,
      remedy: outcome?.decisive?.remedy ?? null,
      step_count: stepCount,
      explanation,
    },
    metadata: {
      executionId,
      status,
      stopReason,
      stepCount,
      usage: {
        inputTokens: usage.input,
        outputTokens: usage.output,
        totalTokens: usage.total,
      },
      cost,
    },
    closing: closingOf(status, message, event, lastFinish),
    needsExplanation: status !== 'completed',
  };
}

function closingOf(
  status: OnwardStop['status'],
  message: string,
  { stopReason }: Ended,
  lastFinish: FinishReason | null,
): readonly UiMessageChunk[] {
  if (status === 'cancelled') return [{ type: 'abort', reason: message }];
  // the client reads nothing after an error
  if (status === 'failed')
    return [
      { type: 'finish', finishReason: 'error' },
      { type: 'error', errorText: message },
    ];
  const finishReason: UiFinishReason =
    stopReason === 'completed'
      ? 'stop'
      : stopReason === 'finish_reason'
        ? finishes[lastFinish ?? 'error']
        : 'other';
  return [{ type: 'finish', finishReason }];
}

const finishes: Readonly<Record<FinishReason, UiFinishReason>> = {
  stop: 'stop',
  tool_calls: 'tool-calls',
  length: 'length',
  content_filter: 'content-filter',
  error: 'other',
  pause_turn: 'other',
};
