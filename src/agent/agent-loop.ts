import { Cancelled } from '../cancellation.ts';
import { isoTime } from '../clock.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { messageOf } from '../errors/error-record.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import { isRecord } from '../json.ts';
import { AgentState } from './agent-state.ts';
import { compactFirst, usesCompaction } from './compact-first.ts';
import { announceStart, announceStep, end } from './announce-run.ts';
import type { UnfinishedStep } from './agent-step.ts';
import {
  HookFailure,
  type ComposedHooks,
  type ExecutionInput,
  type Next,
  type StepReport,
} from './hooks.ts';
import { closeStep, isSavedWithEnd, settle, resolveOutcome } from './evaluate-step.ts';
import { callModel, isMisuse } from './model-call.ts';
import { checkFormat } from './response-format.ts';
import type { Journal } from './journal.ts';
import { prepareDraft } from './prepare-step.ts';
import type { ToolLoad } from './sourced-tools.ts';
import type { Run } from './run.ts';
import { StepDraft } from './step-draft.ts';
import { blockCalls, runCalls } from './tool-calls.ts';
import { waitForRetry } from './wait-for-retry.ts';
import { withoutFullStop } from '../sentence.ts';
import { onDemand } from '../on-demand.ts';

/** Called after each step; the loop waits for it. */
export type AfterStep = (state: AgentState) => Promise<void>;

/** Runs the loop of run, iterate, stream and resume until the execution ends or pauses. */
export async function perform(
  run: Run,
  isResumed: boolean,
  afterStep: AfterStep | null = null,
): Promise<AgentState> {
  const { execution } = run.agent.hooks;
  const { journal } = run;
  const inner = async ({ state }: { readonly state: AgentState }): Promise<AgentState> => {
    run.state = state;
    judgeStart(run, isResumed);
    while (run.state.status === 'in_progress' && !isHandedOver(run)) {
      await takeStep(run);
      if (afterStep) await afterStep(run.state);
    }
    return run.state;
  };
  try {
    announceStart(run, isResumed);
    if (journal && !run.parent) await journal.begin(run.state);
    if (!execution) await inner(run);
    else await insideHooks(run, execution, inner);
  } catch (error) {
    // what is missing may come back: the session is tried again
    const isLater = AgentError.is(error, 'tools_unavailable');
    if (!journal || run.parent || journal.failure || isLater) throw error;
    failAsSaved(run, journal, error);
  } finally {
    if (!run.parent) run.dispose();
  }
  end(run);
  if (journal && !run.parent) await endJournal(run, journal);
  return run.state;
}

/** Writes the end of the run. If that fails, ends the run as failed from the last saved state. */
async function endJournal(run: Run, journal: Journal): Promise<void> {
  try {
    await journal.end(run.state);
  } catch (error) {
    if (journal.failure) throw error;
    failAsSaved(run, journal, error);
    end(run);
    await journal.end(run.state);
  }
}

const isHandedOver = ({ handedOver, parent, journal, cancellation }: Run): boolean =>
  handedOver ||
  cancellation.cause?.by === 'handover' ||
  (journal !== null && parent === null && journal.isHandedOver);

/** Ends the run of a session as failed, from the last saved state: a retry would only repeat the error. */
function failAsSaved(run: Run, journal: Journal, error: unknown): void {
  run.state = journal.saved ?? run.state;
  // of a step that is dropped
  if (journal.saved) run.announceLastStep = run.pendingMessage = null;
  const reason = withoutFullStop(messageOf(error));
  forbid(run, 'SessionRuntime', reason, {
    facts: { kind: 'runtime', what: 'failed' },
    remedy: { text: 'fix the cause, then send a new message.' },
  });
}

/** Runs the hooks around the execution. The execution itself runs once, and an abort does not wait for hooks. */
async function insideHooks(
  run: Run,
  execution: NonNullable<ComposedHooks['execution']>,
  inner: Next<ExecutionInput, AgentState>,
): Promise<void> {
  let inside: Promise<AgentState> | undefined;
  const once = (input: ExecutionInput): Promise<AgentState> => (inside ??= inner(input));
  try {
    const hooked = execution({ state: run.state }, once, run.hookContext);
    const returned: unknown = await run.cancellation.race(hooked);
    await inside;
    if (isRecord(returned)) run.state = AgentState.from(returned as unknown as AgentState);
    else forbid(run, 'aroundExecution', `a hook returned ${show(returned)}, expected the state`);
  } catch (error) {
    if (run.cancellation.cause) return void (await once({ state: run.state }));
    if (!(error instanceof HookFailure)) throw error;
    await inside;
    forbid(run, error.hook, error.message);
  }
}

/** Evaluates the criteria before the first step, unless the state already has an outcome that continues. */
export function judgeStart(run: Run, isResumed: boolean): void {
  const { state } = run;
  const isJudged = state.lastContinuationOutcome?.shouldContinue === true;
  if (state.unfinishedStep || (isResumed && isJudged && !run.cancellation.cause)) return;
  judgeBetweenSteps(run);
}

function judgeBetweenSteps(run: Run): void {
  const { events } = run;
  const outcome = resolveOutcome(run, run.now());
  settle(run, outcome, null, null);
  if (events.wants('ContinuationEvaluated'))
    events.emit('ContinuationEvaluated', { stepNumber: run.state.stepCount, outcome });
}

/** Runs one model call with its tool calls, or the rest of a step that needed approval; then evaluates the step. */
export async function takeStep(run: Run): Promise<void> {
  const { unfinishedStep } = run.state;
  const now = run.now();
  run.watchDeadline(now);
  if (unfinishedStep) {
    const draft = reopened(run, unfinishedStep);
    if (hasSources(run)) {
      const { loadToolsAgain } = await onDemand(import('./sourced-tools.ts'));
      await loadToolsAgain(run, draft);
    }
    await callTools(run, draft);
    return finishStep(run, draft);
  }
  const failed = run.state.steps.at(-1);
  const waitedMs = failed?.waitMs ? await waitForRetry(run, failed, failed.waitMs) : 0;
  // before the turn, because a server may be slow
  const loaded = hasSources(run) ? await loadTools(run, run.state.execution.stepCount + 1) : null;
  // hooks and prepareStep may delay the step while other agents work: then only the model call itself waits for its turn
  const { hooks, preparers, compaction } = run.agent;
  const isDelayed = hooks.step !== null || preparers !== null || compaction !== null;
  const family = isDelayed ? null : run.parent?.family;
  const turn = family ? family.admit(run) : true;
  if (turn !== true && !(await turn) && !run.cancellation.cause) return refuseStep(run);
  const draft = StepDraft.next(run, family || loaded || waitedMs > 0 ? run.now() : now, waitedMs);
  if (loaded) draft.notes.push(...loaded.notes);
  if (run.cancellation.cause) {
    draft.isTruncated = true;
    family?.leave(run, null);
  } else if (loaded?.failure) {
    draft.failure = run.record(loaded.failure);
    family?.leave(run, null);
  } else await work(run, draft);
  return finishStep(run, draft);
}

const hasSources = ({ agent }: Run): boolean => agent.toolSources.length > 0;

/** Most agents have no sources: they do not load the code. */
const loadTools = async (run: Run, stepNumber: number): Promise<ToolLoad> =>
  (await onDemand(import('./sourced-tools.ts'))).loadTools(run, stepNumber);

/** Ends a run whose family used up a shared limit while the run waited for its turn. */
function refuseStep(run: Run): Promise<void> | undefined {
  judgeBetweenSteps(run);
  return run.journal?.save(run.state);
}

/** Closes and saves a step, in one go: a commit must not have the events of a step without the step. */
function finishStep(run: Run, draft: StepDraft): Promise<void> | undefined {
  closeStep(run, draft);
  return run.journal === null || isSavedWithEnd(run) ? undefined : run.journal.save(run.state);
}

function work(run: Run, draft: StepDraft): Promise<void> {
  const { state, agent, journal } = run;
  if (journal) draft.restart = journal.lostTexts(state.agentId, draft.number, draft.attempt);
  const { step } = agent.hooks;
  // a steered step starts once it is known what it offers
  if (agent.preparers === null) announceStep(run, draft);
  const working = step ? workInsideHooks(run, draft, step) : modelAndTools(run, draft);
  return agent.preparers === null ? working : working.then(() => announceStep(run, draft));
}

async function workInsideHooks(
  run: Run,
  draft: StepDraft,
  step: NonNullable<ComposedHooks['step']>,
): Promise<void> {
  const input = { state: run.state, stepNumber: draft.number, attempt: draft.attempt };
  let inside: Promise<StepReport> | undefined;
  const inner = async (): Promise<StepReport> => {
    const { cause } = run.cancellation;
    if (cause) throw new Cancelled(cause);
    return (inside ??= reported(run, draft));
  };
  try {
    await run.cancellation.race(step(input, inner, run.hookContext));
    if (!inside) hookFailed(run, draft, 'A hook around the step returned without calling next().');
    await inside;
  } catch (error) {
    if (isMisuse(error)) throw error;
    // a cancelled step ends by itself, and may still have text to keep
    await inside?.catch(() => {});
    if (run.cancellation.cause) draft.isTruncated ||= draft.finishReason === null;
    else hookFailed(run, draft, messageOf(error));
  }
}

async function reported(run: Run, draft: StepDraft): Promise<StepReport> {
  await modelAndTools(run, draft);
  const { calls, errors, usage, finishReason } = draft;
  return { toolCalls: calls, errors, usage, finishReason };
}

async function modelAndTools(run: Run, draft: StepDraft): Promise<void> {
  if (run.agent.preparers !== null) {
    if (!(await prepareDraft(run, draft, run.agent.preparers))) return;
    announceStep(run, draft);
  }
  if (usesCompaction(run) && !(await compactFirst(run, draft))) return;
  const family = run.parent?.family;
  const turn = family && !run.isAdmitted ? family.admit(run) : true;
  if (turn !== true && !(await turn)) {
    draft.isTruncated = true;
    return;
  }
  await callModel(run, draft);
  if (draft.failure || draft.isTruncated) return;
  if (draft.calls.length > 0) await callTools(run, draft);
  else if (run.agent.response && draft.finishReason !== 'pause_turn') await checkFormat(run, draft);
}

/** Runs the calls of a step, unless a guard blocks them. */
async function callTools(run: Run, draft: StepDraft): Promise<void> {
  const { tools = [] } = run.agent.guards ?? {};
  if (tools.length > 0) {
    const { guardCalls } = await onDemand(import('./step-guards.ts'));
    const outcome = await guardCalls(run, draft, tools);
    if (outcome === false) return;
    if (outcome !== true) return blockCalls(run, draft, outcome);
  }
  await runCalls(run, draft);
}

/** Records a hook error: before the answer as a failed model call, after it as an error beside answer and results. */
function hookFailed(run: Run, draft: StepDraft, message: string): void {
  const record = run.record({ type: 'unknown', code: 'hook_failed', message });
  if (draft.finishReason === null) draft.failure ??= record;
  else (draft.extraErrors ??= []).push(record);
}

const reopened = (run: Run, step: UnfinishedStep): StepDraft =>
  StepDraft.reopened(run, step, (json) => AgentState.from(json as never)); // our own JSON

/** Ends the run as failed with an extra forbid. Keeps all its data and closes open calls. */
function forbid(
  run: Run,
  criterion: string,
  reason: string,
  { facts, remedy }: Required<Pick<ContinuationEvaluation, 'facts' | 'remedy'>> = {
    facts: { kind: 'hook', name: criterion },
    remedy: { text: `fix the hook ${criterion}, then send a new message.` },
  },
): void {
  const { unfinishedStep } = run.state;
  if (unfinishedStep) {
    run.requestStop(reason);
    closeStep(run, reopened(run, unfinishedStep));
  }
  const evaluation: ContinuationEvaluation = {
    criterion,
    decision: 'forbid',
    reason: run.redactor.text(reason),
    context: {},
    stopReason: 'error',
    remedy,
    facts,
  };
  const before = run.state.lastContinuationOutcome?.evaluations ?? [];
  const outcome = ContinuationOutcome.resolve([...before, evaluation], isoTime(run.now()));
  settle(run, outcome, null, null);
}
