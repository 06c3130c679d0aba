import { fileFacts, type FileFacts } from '../file-facts.ts';
import type { MessageContent } from '../messages/content-part.ts';
import type { Message } from '../messages/message.ts';
import type { Pause } from './agent-state.ts';
import { statusFacts, type AgentStatus } from './agent-status.ts';
import { shownInputs } from '../events/shown-inputs.ts';
import { announcePause, shownTo } from './pause-step.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** Emits the start of a run and its input. The first commit of a journal includes both. */
export function announceStart(run: Run, isResumed: boolean): void {
  const { events, state } = run;
  if (events.wants('AgentStarted'))
    events.emit('AgentStarted', {
      agentName: run.agent.name,
      resumed: isResumed,
      previousStatus: run.previousStatus,
      previousStopReason: run.previousStopReason,
      messageCount: state.messages.length,
      stepCount: state.stepCount,
      ...(run.grant !== null && { grant: run.grant }),
      ...(run.viaCall !== null && { callId: run.viaCall }),
    });
  if (!isResumed && run.parent === null && events.wants('MessageAdded')) announceInput(run);
}

/** Emits the user messages that the run answers: all at the end of the conversation since the last run. */
function announceInput({ events, messagesBefore, state: { messages } }: Run): void {
  let first = messages.length;
  while (first > messagesBefore && isFromUser(messages.at(first - 1))) first -= 1;
  for (const { id, text, content } of messages.slice(first)) {
    const files = filesOf(content);
    events.emit('MessageAdded', {
      messageId: id,
      role: 'user',
      content: events.redacted(text),
      ...(files.length > 0 && { files: events.redacted(files) }),
      stepNumber: 0,
    });
  }
}

/** Describes the images and files of a content. */
const filesOf = (content: MessageContent): readonly FileFacts[] =>
  typeof content === 'string'
    ? []
    : content.flatMap((part) => (part.type === 'text' ? [] : [fileFacts(part)]));

/** Whether a message is from the user: the loop also adds synthetic user messages. */
const isFromUser = (message: Message | undefined): boolean =>
  message?.isUser() === true && message.metadata['synthetic'] !== true;

/** Emits the start of a step once, with the tools that it offers. */
export function announceStep({ events, state }: Run, draft: StepDraft): void {
  if (draft.isAnnounced) return;
  draft.isAnnounced = true;
  if (events.wants('AgentStepStarted'))
    events.emit('AgentStepStarted', {
      stepNumber: draft.number,
      attempt: draft.attempt,
      messageCount: state.messages.length,
      availableTools: draft.softLanding === null ? draft.offered.toolNames : [],
    });
}

/** Pause of a run that continues in another process. */
const noPause: Pick<Pause, 'kind' | 'reason'> = { kind: 'handover' };

/** Emits the last event of a run or resume, by status. */
export function end(run: Run, before: AgentStatus = 'in_progress'): void {
  run.announceLastStep?.();
  run.announceLastStep = null;
  const { events, state } = run;
  const { status, stopReason, stepCount, usage, cost, lastContinuationOutcome: outcome } = state;
  const { event } = statusFacts(status, stopReason);
  if (status === 'in_progress' || event === 'AgentPaused') {
    announcePause(run);
    if (!events.wants('AgentPaused')) return;
    const { kind, reason = null } = state.pause ?? noPause;
    events.emit('AgentPaused', {
      kind,
      reason: events.redacted(reason),
      pendingApprovals: shownTo(run, state.pendingApprovals),
      ...(state.pendingInputs.length > 0 && {
        pendingInputs: shownInputs(state.pendingInputs, run.redactor),
      }),
      stepCount,
    });
    return;
  }
  if (event === null || !events.wants(event)) return;
  const outputText = events.redacted(state.outputText);
  const fields = {
    previousStatus: before === 'paused' ? ('paused' as const) : ('in_progress' as const),
    stopReason,
    stepCount,
    usage,
    cost,
    outcome,
    outputText,
  };
  if (status === 'failed')
    events.emit('AgentFailed', {
      status,
      ...fields,
      error: state.currentStep?.errors.at(-1) ?? null,
    });
  else if (status === 'completed' || status === 'stopped')
    events.emit('AgentFinished', { status, ...fields });
}
