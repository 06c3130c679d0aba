import type { CancelCause } from '../cancellation.ts';
import { isoTime } from '../clock.ts';
import { fallbackText } from '../continuation/criteria/failed-models.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import {
  contextOf,
  countFailures,
  worstError,
  type CountedStep,
} from '../continuation/retry-account.ts';
import { isAnswered, type StopRequest } from '../continuation/run-view.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import { parsePartialJson } from '../json.ts';
import { Message } from '../messages/message.ts';
import type { AgentState, AgentStateData, Pause } from './agent-state.ts';
import { AgentStatus, statusOf } from './agent-status.ts';
import type { AgentStep } from './agent-step.ts';
import { bookCompaction, shortensAfter } from './compact-first.ts';
import { decide } from './decide.ts';
import { bookExecution, bookSession } from './execution.ts';
import { unbooked } from './family-shares.ts';
import { isBlocked } from './guard.ts';
import { handOverStep, isUnfinished } from './hand-over-step.ts';
import { countsBefore, fallbackOf } from './model-chain.ts';
import { pauseStep } from './pause-step.ts';
import { policyOf } from './recorded-policy.ts';
import type { Run } from './run.ts';
import { endedRun, isPolicyNew } from './run-records.ts';
import { bookingOf, drawWait, withSuccesses, workedMs } from './step-account.ts';
import type { StepDraft } from './step-draft.ts';
import { withNotes } from './outcome-notes.ts';
import { closeOpenCalls } from './tool-calls.ts';
import { addToolMessages } from './tool-message.ts';

/** Ends the work on a step: pauses if calls need approval, else records the step and evaluates the criteria. */
export function closeStep(run: Run, draft: StepDraft): void {
  // a step may end between a summary and its model call
  bookCompaction(draft);
  // no time would be left to run a call after its approval
  if (draft.hasOpenCalls) run.meetDeadline(run.now());
  run.pauseDeadline();
  const { cause } = run.cancellation;
  if (cause?.by === 'handover' && run.stopRequest === null && isUnfinished(draft))
    return handOverStep(run, draft);
  if (draft.hasOpenCalls) {
    const fatal = cause === null && run.stopRequest === null ? fatalError(run, draft) : null;
    const isStopped = run.stopRequest !== null || fatal !== null || isBlocked(draft);
    if (cause === null && !isStopped) return pauseStep(run, draft);
    draft.isTruncated ||= cause !== null;
    bookLeftBehind(draft);
    closeOpenCalls(run, draft, fatal);
  }
  const now = run.now();
  addToolMessages(draft, isoTime(now));
  const step = record(run, draft, now);
  judge(run, draft, step, now);
}

/** The error that will end the run, so that no approval is worth waiting for; null if the run may continue. */
function fatalError({ agent, state }: Run, draft: StepDraft): ErrorRecord | null {
  const { errors } = draft;
  // an own resolver sees finished steps only
  if (errors.length === 0 || agent.hasErrorResolver) return null;
  const { execution } = state;
  const step = countedStep(draft, errors);
  const failures = countFailures(execution, step, agent.errorPolicy);
  const policy = agent.errorPolicy.withMoreRetries(execution.grants.retries ?? 0);
  const worst = worstError(step, failures, policy);
  if (worst === undefined) return null;
  const context = contextOf(worst, step, failures, failures.totalFailures, policy);
  return policy.evaluate(context) === 'stop' ? worst : null;
}

/** The parts of a step that the failure counts read. */
const countedStep = (
  { type, calls, results }: StepDraft,
  errors: readonly ErrorRecord[],
): CountedStep => ({ type, errors, toolCalls: calls, results });

/** Adds the usage of paused nested agents that end here without reporting it. */
function bookLeftBehind(draft: StepDraft): void {
  if (draft.children !== null) draft.addSpending(unbooked(draft.children, draft.childAccounts));
}

/** Adds the step to the state and to the totals of execution and session. */
function record(run: Run, draft: StepDraft, now: number): AgentStep {
  const { state } = run;
  const { execution } = state;
  const { errors } = draft;
  const { failure, modelId: model, steeredModel } = draft;
  const call = { isFailed: failure !== null, model, isChosen: steeredModel !== null };
  const before = countsBefore(state, call, run.agent.models.length > 1);
  const isShortened = draft.failure !== null && shortensAfter(run, draft);
  const counted = countedStep(draft, errors);
  const { errorPolicy } = run.agent;
  const failures = isShortened ? before : countFailures(before, counted, errorPolicy);
  const models = fallbackOf(run, draft, failures);
  const isRetried = models?.fallback === undefined && !isShortened;
  const waitMs = draft.failure && isRetried ? drawWait(run, draft.failure, failures) : null;
  const step = draft.toStep(execution.id, workedMs(draft, now), errors, waitMs);
  if (models) Object.assign(step, models);
  if (isShortened) Object.assign(step, { compacts: true });
  if (isPolicyNew(execution, draft.number)) Object.assign(step, { policy: policyOf(run.agent) });
  const booking = bookingOf(draft, now, {
    number: draft.number,
    answered: isAnswered(step) ? 1 : 0,
    failures,
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

/** Evaluates the criteria for the newest step and applies the outcome. */
function judge(run: Run, draft: StepDraft, step: AgentStep, now: number): void {
  const outcome = resolveOutcome(run, now);
  (step as { outcome: ContinuationOutcome }).outcome = outcome; // the last field; frozen below
  Object.freeze(step);
  settle(run, outcome, step, draft);
  if (isSavedWithEnd(run)) run.announceLastStep = () => announce(run, draft, step, outcome);
  else announce(run, draft, step, outcome);
  run.observation?.stepEnded(run.state);
}

/** Whether the newest step ends the run of a session: then one commit has the step, the end and their events. */
export const isSavedWithEnd = ({ journal, parent, state }: Run): boolean =>
  journal !== null && parent === null && state.status !== 'in_progress';

/** Resolves the outcome of the current state. A cancelled run ends, unless another process continues it. */
export function resolveOutcome(run: Run, now: number): ContinuationOutcome {
  const { criteria, landingReserve: reserve } = run.agent;
  const { redactor, deps } = run;
  const { cause: cancelled } = run.cancellation;
  const cause = cancelled?.by === 'handover' ? null : cancelled;
  const request = cause?.by === 'user' ? userRequest(cause, now) : run.stopRequest;
  const asked = { now, redactor, reserve, deps };
  const decided = decide(criteria, run.state, { request, isCancelled: cause !== null }, asked);
  run.state = decided.state;
  const { outcome, isForced } = decided;
  if (isForced) return outcome;
  if (!outcome.shouldContinue) return withNotes(run, outcome);
  return run.parent === null ? outcome : withinFamily(run.parent, outcome);
}

/** Stops an agent that would continue if a limit of a parent is used up. */
function withinFamily({ family }: Run, outcome: ContinuationOutcome): ContinuationOutcome {
  const objections = family?.objections() ?? [];
  if (objections.length === 0) return outcome;
  return ContinuationOutcome.resolve([...objections, ...outcome.evaluations], outcome.at);
}

const userRequest = ({ reason, requestedBy, at }: CancelCause, now: number): StopRequest => ({
  by: 'user',
  reason,
  ...(requestedBy !== undefined && { requestedBy }),
  at: at ?? isoTime(now),
});

/** Applies an outcome: status, pause, output and, to continue after an answer, a message that asks for more. */
export function settle(
  run: Run,
  outcome: ContinuationOutcome,
  step: AgentStep | null,
  draft: StepDraft | null,
): void {
  const { state } = run;
  if (!outcome.shouldContinue) {
    const status = statusOf(outcome.stopReason ?? 'completed');
    run.state = state.with({
      status,
      lastContinuationOutcome: outcome,
      execution: endedRun(state.execution, outcome.at, status, outcome.stopReason),
      pause: null,
      ...outputOf(run, outcome, step, draft),
    });
    return;
  }
  const reason =
    run.pauseReason ?? (run.parent === null ? (run.journal?.pauseReason ?? null) : null);
  run.pauseReason = null;
  const last = state.messages.last();
  const asks =
    last?.role === 'assistant' && last.toolCalls.length === 0 && !isPausedTurn(state, last.id);
  run.state = state.with({
    status: reason === null ? AgentStatus.InProgress : AgentStatus.Paused,
    ...(reason !== null && { execution: endedRun(state.execution, outcome.at, 'paused', null) }),
    pause: reason === null ? null : pauseOf('requested', run.now(), reason),
    lastContinuationOutcome: outcome,
    messages: asks
      ? state.messages.append(syntheticMessage(outcome.decisive?.reason ?? '', isoTime(run.now())))
      : state.messages,
  });
}

/** Whether the provider paused the turn with this message, and continues it when it gets the message back. */
function isPausedTurn({ steps }: AgentState, messageId: string): boolean {
  const step = steps.at(-1);
  return step?.finishReason === 'pause_turn' && step.messageIds.includes(messageId);
}

const pauseOf = (kind: Pause['kind'], now: number, reason: string): Pause => ({
  kind,
  at: isoTime(now),
  reason,
  pendingApprovals: [],
});

export const syntheticMessage = (content: string, createdAt: string): Message =>
  Message.trusted({ role: 'user', content, metadata: { synthetic: true }, createdAt });

/** Output of an ended execution: the validated value with a response format, else the text. */
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
  run.emitMessage();
  const { number: stepNumber, attempt, errors, usage, cost } = step;
  const [failure] = errors;
  if (step.type === 'error' && failure) {
    if (events.wants('StepFailed')) {
      events.emit('StepFailed', {
        stepNumber,
        attempt,
        error: failure,
        waitMs: step.waitMs ?? 0,
        ...(step.model !== undefined && { model: step.model }),
        ...(step.modelCall && { modelCall: step.modelCall }),
      });
    }
    if (draft.hasShown && events.wants('StreamDiscarded'))
      events.emit('StreamDiscarded', { stepNumber, attempt });
    if (outcome.shouldContinue) announceFallback(run, step);
  } else {
    if (events.wants('TokenUsageReported')) events.emit('TokenUsageReported', { usage, cost });
    if (events.wants('AgentStepCompleted')) {
      const completed = {
        stepNumber,
        durationMs: step.durationMs,
        hasToolCalls: step.toolCalls.length > 0,
        errorCount: errors.length,
        finishReason: step.finishReason,
        usage,
        outcome,
      };
      const { modelCall } = step;
      events.emit('AgentStepCompleted', modelCall ? { ...completed, modelCall } : completed);
    }
  }
  if (events.wants('ContinuationEvaluated'))
    events.emit('ContinuationEvaluated', { stepNumber, outcome });
  if (events.wants('AgentStateUpdated'))
    events.emit('AgentStateUpdated', { status: state.status, stepCount: state.stepCount });
}

function announceFallback({ events }: Run, step: AgentStep): void {
  const reason = fallbackText(step);
  if (reason === null || !events.wants('ModelFallback')) return;
  const { number: stepNumber, attempt, model: from = '', fallback: to = '', errors } = step;
  events.emit('ModelFallback', {
    stepNumber,
    attempt,
    from,
    to,
    code: errors[0]?.code ?? '',
    reason,
  });
}
