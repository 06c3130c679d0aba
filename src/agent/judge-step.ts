import { isoTime } from '../clock.ts';
import { failedAnswer, worstError } from '../continuation/error-context-resolver.ts';
import type { ContinuationOutcome } from '../continuation/outcome.ts';
import { isAnswered } from '../continuation/run-view.ts';
import { backoffMs } from '../errors/error-policy.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { PendingApproval } from '../events/agent-event.ts';
import { minusUsage } from '../inference/usage.ts';
import { parsePartialJson } from '../json.ts';
import { Message } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type { AgentStateData, Pause } from './agent-state.ts';
import { AgentStatus, statusOf } from './agent-status.ts';
import type { AgentStep } from './agent-step.ts';
import { bookExecution, bookSession, type Booking, type Execution } from './execution.ts';
import type { Checkpoint } from './journal.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';
import { sealOpenCalls } from './tool-calls.ts';

/** A provider's wish for a longer wait than this is not followed. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/** Ends the work on a step: pauses where calls wait for people, else records it and asks the criteria. */
export function closeStep(run: Run, draft: StepDraft): void {
  run.pauseDeadline();
  const { cause } = run.cancellation;
  if (draft.hasOpenCalls) {
    if (cause === null && run.stopRequest === null) return pauseStep(run, draft);
    draft.isCut ||= cause !== null;
    sealOpenCalls(run, draft);
  }
  const now = run.now();
  draft.addToolMessages(isoTime(now));
  const step = record(run, draft, now);
  judge(run, draft, step, now);
}

/** Adds the step to the state and to the accounts of execution and session. */
function record(run: Run, draft: StepDraft, now: number): AgentStep {
  const { state } = run;
  const { execution } = state;
  const { errors } = draft;
  const { consecutiveFailures, totalFailures } = failures(run, draft, errors);
  const waitMs = draft.failure ? drawWait(run, draft.failure, consecutiveFailures) : null;
  const step = draft.toStep(execution.id, workedMs(draft, now), errors, waitMs);
  const booking = bookingOf(draft, now, {
    number: draft.number,
    answered: isAnswered(step) ? 1 : 0,
    consecutiveFailures,
    totalFailures,
    succeededTools: withSuccesses(execution.succeededTools, step),
  });
  run.state = state.with({
    messages: state.messages.append(...draft.takeMessages()),
    steps: state.steps.append(step),
    unfinishedStep: null,
    pause: null,
    execution: bookExecution(execution, booking),
    info: bookSession(state.info, booking),
  });
  return step;
}

/** Asks the criteria about the newest step and lets the verdict take effect. */
function judge(run: Run, draft: StepDraft, step: AgentStep, now: number): void {
  const outcome = verdict(run, now);
  (step as { outcome: ContinuationOutcome }).outcome = outcome; // its last field; frozen from here on
  Object.freeze(step);
  settle(run, outcome, step, draft);
  announce(run, draft, step, outcome);
}

/** The verdict on the state as it is; a cancelled run always ends. */
export function verdict(run: Run, now: number): ContinuationOutcome {
  const { criteria } = run.agent;
  const { cause } = run.cancellation;
  const { redactor } = run;
  const byUser = cause?.by === 'user' ? ({ by: 'user', reason: cause.reason } as const) : null;
  const request = byUser ?? run.stopRequest;
  if (request) requestStop(run, request);
  const outcome = criteria.evaluate(run.state, { now, redactor });
  if (!outcome.shouldContinue || cause === null) return outcome;
  requestStop(run, { by: 'deadline', reason: 'the deadline of the run was reached' });
  return criteria.evaluate(run.state, { now, redactor });
}

function requestStop(run: Run, stopRequest: Execution['stopRequest']): void {
  run.state = run.state.with({ execution: { ...run.state.execution, stopRequest } });
}

/** Lets a verdict take effect: status, pause, output and, where the model spoke last, the word that asks for more. */
export function settle(
  run: Run,
  outcome: ContinuationOutcome,
  step: AgentStep | null,
  draft: StepDraft | null,
): void {
  const { state } = run;
  if (!outcome.shouldContinue) {
    run.state = state.with({
      status: statusOf(outcome.stopReason ?? 'completed'),
      lastContinuationOutcome: outcome,
      pause: null,
      ...outputOf(run, outcome, step, draft),
    });
    return;
  }
  const reason =
    run.pauseReason ?? (run.parent === null ? (run.journal?.pauseReason ?? null) : null);
  run.pauseReason = null;
  const last = state.messages.last();
  const asks = last?.role === 'assistant' && last.toolCalls.length === 0;
  run.state = state.with({
    status: reason === null ? AgentStatus.InProgress : AgentStatus.Paused,
    pause: reason === null ? null : pauseOf('requested', run.now(), reason),
    lastContinuationOutcome: outcome,
    messages: asks
      ? state.messages.append(syntheticMessage(outcome.decisive?.reason ?? '', isoTime(run.now())))
      : state.messages,
  });
}

const pauseOf = (kind: string, now: number, reason: string): Pause => ({
  kind,
  at: isoTime(now),
  reason,
  pendingApprovals: [],
});

export const syntheticMessage = (content: string, createdAt: string): Message =>
  Message.trusted({ role: 'user', content, metadata: { synthetic: true }, createdAt });

/** The answer of an ended execution: validated where a schema was given, else the text. */
function outputOf(
  { agent, state }: Run,
  { stopReason }: ContinuationOutcome,
  step: AgentStep | null,
  draft: StepDraft | null,
): Pick<AgentStateData, 'output' | 'partialOutput'> {
  const isCompleted = stopReason === 'completed';
  if (agent.response === null)
    return {
      output: isCompleted || step?.type === 'final' ? state.outputText : null,
      partialOutput: null,
    };
  if (isCompleted && draft?.output)
    return { output: draft.output.value ?? null, partialOutput: null };
  return { output: null, partialOutput: parsePartialJson(state.outputText) ?? null };
}

function announce(run: Run, draft: StepDraft, step: AgentStep, outcome: ContinuationOutcome): void {
  const { events, state } = run;
  if (events.isSilent) return;
  run.tellMessage();
  const { number: stepNumber, attempt, errors, usage, cost } = step;
  const [failure] = errors;
  if (step.type === 'error' && failure) {
    if (events.wants('StepFailed'))
      events.emit('StepFailed', { stepNumber, attempt, error: failure, waitMs: step.waitMs ?? 0 });
    if (draft.shown !== '' && events.wants('StreamDiscarded'))
      events.emit('StreamDiscarded', { stepNumber, attempt });
  } else {
    if (events.wants('TokenUsageReported')) events.emit('TokenUsageReported', { usage, cost });
    if (events.wants('AgentStepCompleted'))
      events.emit('AgentStepCompleted', {
        stepNumber,
        durationMs: step.durationMs,
        hasToolCalls: step.toolCalls.length > 0,
        errorCount: errors.length,
        finishReason: step.finishReason,
        usage,
        outcome,
      });
  }
  if (events.wants('ContinuationEvaluated'))
    events.emit('ContinuationEvaluated', { stepNumber, outcome });
  if (events.wants('AgentStateUpdated'))
    events.emit('AgentStateUpdated', { status: state.status, stepCount: state.stepCount });
}

/** Keeps the step unfinished in the state: no verdict is made while calls are open. */
function pauseStep(run: Run, draft: StepDraft): void {
  const now = run.now();
  const { state } = run;
  const booking = bookingOf(draft, now, null);
  const pendingApprovals = pendingOf(draft);
  run.newApprovals = pendingApprovals.filter(
    ({ callId, path }) => path.length === 0 && !draft.announced.has(callId),
  );
  const [firstChild] = draft.children?.values() ?? [];
  run.state = state.with({
    messages: state.messages.append(...draft.takeMessages()),
    execution: bookExecution(state.execution, booking),
    info: bookSession(state.info, booking),
    status: AgentStatus.Paused,
    unfinishedStep: draft.toUnfinished(state.execution.id, workedMs(draft, now)),
    pause: {
      kind: pendingApprovals.length > 0 ? 'approval' : (firstChild?.pause?.kind ?? 'requested'),
      at: isoTime(now),
      pendingApprovals,
    },
  });
  run.pauseReason = null;
}

/** Told with the last word of the run: by then the pause can be written down, whatever hooks did in between. */
export function announcePause(run: Run): void {
  const { events, state, newApprovals } = run;
  run.tellMessage();
  if (newApprovals === null) return;
  run.newApprovals = null;
  if (events.wants('ToolApprovalRequested'))
    for (const { callId: toolCallId, tool, args } of newApprovals)
      events.emit('ToolApprovalRequested', { tool, toolCallId, args: events.redacted(args) });
  if (events.wants('AgentStateUpdated'))
    events.emit('AgentStateUpdated', { status: 'paused', stepCount: state.stepCount });
}

/** The run as it is in the middle of a step: what a journal needs before a tool may begin. */
export function checkpointOf(run: Run, draft: StepDraft): Checkpoint {
  const { state } = run;
  const now = run.now();
  const booking = bookingOf(draft, now, null);
  return {
    state: state.with({
      execution: bookExecution(state.execution, booking),
      info: bookSession(state.info, booking),
      unfinishedStep: draft.toUnfinished(state.execution.id, workedMs(draft, now)),
    }),
    messages: draft.newMessages,
  };
}

function pendingOf(draft: StepDraft): readonly PendingApproval[] {
  return draft.openCalls.flatMap((place) => {
    const { id, name, args } = draft.calls[place] as ToolCall; // places are taken from the list of calls
    const child = draft.children?.get(id);
    if (!child) return [{ callId: id, tool: name, args, path: [] }];
    return child.pendingApprovals.map((inner) => ({ ...inner, path: [id, ...inner.path] }));
  });
}

/** Usage, cost and working time that no earlier stretch of the step has booked. */
function bookingOf(draft: StepDraft, now: number, step: Booking['step']): Booking {
  const { counted, usage, cost, beganAt, waitedMs } = draft;
  return {
    at: isoTime(now),
    usage: counted === null ? usage : minusUsage(usage, counted.usage),
    cost: cost === null ? null : cost - (counted?.cost ?? 0),
    seconds: (now - beganAt + (counted === null ? waitedMs : 0)) / 1000,
    step,
  };
}

const workedMs = (draft: StepDraft, now: number): number =>
  (draft.counted?.ms ?? 0) + now - draft.beganAt;

/** One failure is one step with at least one error that the policy does not ignore; a cut step counts for nothing. */
function failures(
  run: Run,
  { type }: StepDraft,
  errors: readonly ErrorRecord[],
): Pick<Execution, 'consecutiveFailures' | 'totalFailures'> {
  const { consecutiveFailures, totalFailures } = run.state.execution;
  if (type === 'cut') return { consecutiveFailures, totalFailures };
  if (errors.length === 0) return { consecutiveFailures: 0, totalFailures };
  const { errorPolicy } = run.agent;
  const worst = worstError({ type, errors }, errorPolicy);
  const ignored =
    worst && errorPolicy.handlingOf({ ...worst, modelCall: failedAnswer({ type }) }) === 'ignore';
  const more = ignored ? 0 : 1;
  return {
    consecutiveFailures: consecutiveFailures + more,
    totalFailures: totalFailures + more,
  };
}

/** Drawn once, before the step is judged: time limits look ahead over it. Null when there will be no next try. */
function drawWait(run: Run, failure: ErrorRecord, consecutiveFailures: number): number | null {
  const { errorPolicy, random } = run.agent;
  const { grants } = run.state.execution;
  const { type, retryable, retryAfterMs } = failure;
  const mayRetry = errorPolicy.handlingOf({ type, retryable, modelCall: true }) === 'retry';
  if (!mayRetry || consecutiveFailures > errorPolicy.maxRetries + (grants.retries ?? 0))
    return null;
  return retryAfterMs === undefined
    ? backoffMs(errorPolicy.backoff, consecutiveFailures, random())
    : Math.min(LONGEST_RETRY_AFTER_MS, Math.max(0, retryAfterMs));
}

function withSuccesses(names: readonly string[], step: AgentStep): readonly string[] {
  let next = names;
  for (let i = 0; i < step.toolCalls.length; i++) {
    const name = step.toolCalls[i]?.name ?? '';
    if (step.results[i]?.kind === 'ok' && !next.includes(name)) next = [...next, name];
  }
  return next;
}
