import { isoTime } from '../clock.ts';
import { bothRedactors } from '../errors/redactor.ts';
import type { PendingApproval } from '../events/agent-event.ts';
import { shownApprovals } from '../events/shown-approvals.ts';
import { shownInputs } from '../events/shown-inputs.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { argsHash } from '../tools/arguments.ts';
import { AgentStatus } from './agent-status.ts';
import { bookExecution, bookSession } from './execution.ts';
import { familyRedactor } from './family-redactor.ts';
import type { Checkpoint } from './journal.ts';
import { pendingInputsOf } from './open-inputs.ts';
import type { Run } from './run.ts';
import { endedRun } from './run-records.ts';
import { bookingOf, workedMs } from './step-account.ts';
import type { StepDraft } from './step-draft.ts';
import { unfinishedStep } from './unfinished-step.ts';

/** Stores the step as unfinished and pauses the run. There is no outcome while calls are open. */
export function pauseStep(run: Run, draft: StepDraft): void {
  const now = run.now();
  const { state } = run;
  const booking = bookingOf(draft, now, null);
  const pendingApprovals = pendingOf(draft, state.execution.id);
  const pendingInputs = pendingInputsOf(draft, state.execution.id);
  // each pause asks what is still open, because a reader drops the questions when the run continues
  run.newInputs = pendingInputs.filter(({ path }) => path.length === 0);
  run.newApprovals = pendingApprovals.filter(
    ({ callId, path }) => path.length === 0 && !draft.announced.has(callId),
  );
  const [firstChild] = draft.children?.values() ?? [];
  run.state = state.with({
    messages: state.messages.append(...draft.takeMessages()),
    execution: endedRun(bookExecution(state.execution, booking), booking.at, 'paused', null),
    info: bookSession(state.info, booking),
    status: AgentStatus.Paused,
    unfinishedStep: unfinishedStep(draft, state.execution.id, workedMs(draft, now)),
    pause: {
      kind:
        pendingApprovals.length > 0
          ? 'approval'
          : pendingInputs.length > 0
            ? 'input'
            : (firstChild?.pause?.kind ?? 'requested'),
      at: isoTime(now),
      pendingApprovals,
      ...(pendingInputs.length > 0 && { pendingInputs }),
    },
  });
  run.pauseReason = null;
}

/** Emits the events of a pause at the end of the run, after the hooks, when the pause can be saved. */
export function announcePause(run: Run): void {
  const { events, state, newApprovals } = run;
  run.emitMessage();
  if (newApprovals === null) return;
  run.newApprovals = null;
  const newInputs = shownInputs(run.newInputs, run.redactor);
  run.newInputs = [];
  if (events.wants('ToolInputRequested'))
    for (const { callId: toolCallId, tool, inputId, key, ...question } of newInputs) {
      const { executionId: _execution, path: _path, ...asked } = question;
      events.emit('ToolInputRequested', { tool, toolCallId, inputId, key, ...asked });
    }
  if (events.wants('ToolApprovalRequested'))
    for (const { callId: toolCallId, tool, args, argsHash, hidden } of shownTo(run, newApprovals))
      events.emit('ToolApprovalRequested', {
        tool,
        toolCallId,
        args,
        ...(argsHash !== undefined && { argsHash }),
        ...(hidden && { hidden }),
      });
  if (events.wants('AgentStateUpdated'))
    events.emit('AgentStateUpdated', { status: 'paused', stepCount: state.stepCount });
}

/** Redacts pending approvals for listeners. */
export const shownTo = (
  { redactor: own, agent }: Run,
  pending: readonly PendingApproval[],
): readonly PendingApproval[] =>
  shownApprovals(pending, { own, family: bothRedactors(own, familyRedactor(agent)) });

/**
 * Emits the message of a step before its calls, and saves the step with it: a hook may delay the calls, and a cancelled
 * run starts none.
 */
export function announceMessage(run: Run, draft: StepDraft): void {
  if (run.pendingMessage === null) return;
  run.emitMessage();
  if (run.journal === null || draft.isSaved) return;
  draft.isSaved = true;
  run.journal.keep(checkpointOf(run, draft));
}

/** State in the middle of a step, which a journal needs before a tool starts. */
export function checkpointOf(run: Run, draft: StepDraft): Checkpoint {
  const { state } = run;
  const now = run.now();
  const booking = bookingOf(draft, now, null);
  return {
    state: state.with({
      execution: bookExecution(state.execution, booking),
      info: bookSession(state.info, booking),
      unfinishedStep: unfinishedStep(draft, state.execution.id, workedMs(draft, now)),
    }),
    messages: draft.newMessages,
  };
}

function pendingOf(draft: StepDraft, executionId: string): readonly PendingApproval[] {
  return draft.openCalls.flatMap((place) => {
    const { id, name, args } = draft.calls[place] as ToolCall; // a valid index
    if (draft.inputs?.has(id)) return [];
    const child = draft.children?.get(id);
    if (!child)
      return [{ callId: id, tool: name, args, argsHash: argsHash(args), executionId, path: [] }];
    return child.pendingApprovals.map((inner) => ({ ...inner, path: [id, ...inner.path] }));
  });
}
