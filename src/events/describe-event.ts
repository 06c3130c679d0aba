import { progressText } from '../tools/progress-text.ts';
import { visibleText } from '../visible-text.ts';
import type { AgentEvent, EventOf } from './agent-event.ts';
import { compactionText } from './compaction-text.ts';
import type { ContinuationOutcome } from '../continuation/outcome.ts';

/** Describes an event in one line: `Agent [1f3a9c02] step 3: STOP (steps_limit)`. Invisible characters are escaped. */
export function describeEvent(event: AgentEvent): string {
  return visibleText(`Agent [${event.agentId.slice(0, 8)}] ${what(event)}`);
}

function what(e: AgentEvent): string {
  switch (e.type) {
    case 'AgentStarted':
      return `${e.resumed ? 'resumed' : 'started'} (${e.agentName}, ${count(e.messageCount, 'message')})`;
    case 'MessageAdded':
      return `${e.stepNumber === 0 ? '' : `step ${e.stepNumber}: `}${e.role} message, ${count(e.content.length, 'character')}`;
    case 'AgentStepStarted':
      return `step ${e.stepNumber}: started${e.attempt > 1 ? `, attempt ${e.attempt}` : ''}`;
    case 'ToolsChanged':
      return `step ${e.stepNumber}: ${toolsText(e)}`;
    case 'StreamChunk':
      return `step ${e.stepNumber}: chunk ${e.index}, ${count(e.content.length, 'character')}`;
    case 'ReasoningDelta':
      return `step ${e.stepNumber}: reasoning ${e.index}, ${count(e.content.length, 'character')}`;
    case 'ToolCallDelta':
      return `${e.tool} ${e.toolCallId}: ${count(e.argsDelta.length, 'character')} of arguments`;
    case 'ToolCallStarted':
      return `${e.tool} ${e.toolCallId}: started`;
    case 'ToolProgress':
      return `${e.tool} ${e.toolCallId}: ${progressText(e)}`;
    case 'ToolCallCompleted':
      return `${e.tool} ${e.toolCallId}: ${e.success ? 'ok' : `failed (${e.error})`} in ${Math.round(e.durationMs)} ms`;
    case 'ToolApprovalRequested':
      return `${e.tool} ${e.toolCallId}: waits for approval`;
    case 'ToolInputRequested':
      return `${e.tool} ${e.toolCallId}: asks for ${e.key}`;
    case 'TokenUsageReported':
      return `used ${count(e.usage.total, 'token')}${e.cost === null ? '' : ` for ${e.cost}`}`;
    case 'AgentStepCompleted':
      return `step ${e.stepNumber}: completed in ${Math.round(e.durationMs)} ms (${e.finishReason ?? 'cut'})`;
    case 'StepFailed':
      return `step ${e.stepNumber}: FAILED (${e.error.type}, attempt ${e.attempt}): ${e.error.message}`;
    case 'ModelFallback':
      return `step ${e.stepNumber}: ${e.reason}`;
    case 'ContextCompacted':
      return `step ${e.stepNumber}: ${compactionText(e)}`;
    case 'StreamDiscarded':
      return `step ${e.stepNumber}: shown text discarded (attempt ${e.attempt})`;
    case 'ContinuationEvaluated':
      return `step ${e.stepNumber}: ${outcomeText(e.outcome)}`;
    case 'AgentStateUpdated':
      return `is ${e.status} after ${count(e.stepCount, 'step')}`;
    case 'AgentPaused':
      return `paused (${e.kind}, ${waitingText(e)} pending)`;
    case 'AgentFinished':
      return `finished: ${e.status} (${e.stopReason}) after ${count(e.stepCount, 'step')}`;
    case 'AgentFailed':
      return `FAILED (${e.stopReason}) after ${count(e.stepCount, 'step')}${e.error ? `: ${e.error.message}` : ''}`;
  }
}

function toolsText({ added, removed, changed, unavailable }: EventOf<'ToolsChanged'>): string {
  const parts = [
    ...(added.length > 0 ? [`${added.length} added`] : []),
    ...(removed.length > 0 ? [`${removed.length} removed`] : []),
    ...(changed.length > 0 ? [`${changed.length} changed`] : []),
  ];
  const gone = unavailable.map(({ source, reason }) => `${source} unavailable: ${reason}`);
  return [`tools ${parts.join(', ') || 'unchanged'}`, ...gone].join('; ');
}

const waitingText = ({ pendingApprovals, pendingInputs = [] }: EventOf<'AgentPaused'>): string =>
  pendingInputs.length > 0 && pendingApprovals.length === 0
    ? count(pendingInputs.length, 'question')
    : count(pendingApprovals.length, 'approval');

const count = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;

function outcomeText({
  shouldContinue,
  decision,
  resolvedBy,
  stopReason,
}: ContinuationOutcome): string {
  if (!shouldContinue) return `STOP (${stopReason})`;
  return `CONTINUE (${decision === 'request' ? 'requested' : 'allowed'} by ${resolvedBy})`;
}
