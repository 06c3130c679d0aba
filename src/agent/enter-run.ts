import { isoTime, syncSystemClock } from '../clock.ts';
import { checkedGrant } from '../continuation/grants.ts';
import { DEFAULT_STOP } from '../continuation/stop-reason.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import type { EventBus } from '../events/event-bus.ts';
import { Message } from '../messages/message.ts';
import type { AgentDefinition } from './agent-options.ts';
import { AgentState, type AgentStateJSON } from './agent-state.ts';
import { isOpen } from './agent-status.ts';
import { announceStart, end } from './announce-run.ts';
import type { GrantedBy } from './give-grant.ts';
import { closeStep, settle, resolveOutcome } from './evaluate-step.ts';
import { checkAgentName } from './nested-agent.ts';
import { reopen, startExecution, continueRun, continueInTime } from './open-run.ts';
import { Run } from './run.ts';
import { observeStop } from './run-observer.ts';
import type { DurableOptions } from './run-options.ts';
import { StepDraft } from './step-draft.ts';
import { onDemand } from '../on-demand.ts';

/** A state, its JSON, or the text of a first message. */
export type RunInput = AgentState | AgentStateJSON | string;

export function stateOf(input: RunInput, { clock }: AgentDefinition): AgentState {
  if (typeof input !== 'string') return AgentState.from(input);
  syncSystemClock();
  const now = clock.now();
  const message = Message.trusted({ role: 'user', content: input, createdAt: isoTime(now) });
  return AgentState.empty({ now }).withMessages(message);
}

export function openNew(
  definition: AgentDefinition,
  bus: EventBus,
  input: RunInput,
  options: DurableOptions,
): Run {
  const state = stateOf(input, definition);
  checkAgentName(definition, state);
  if (isOpen(state.status)) throw openExecution(state, 'run');
  if (state.status !== 'pending' || !state.messages.last()?.isUser())
    throw new AgentError(
      'no_new_message',
      `run() needs a new user message, and this state is ${state.status} with ${
        state.messages.length === 0
          ? 'no messages'
          : `a last message of role ${state.messages.last()?.role}`
      }. Add one with state.withUserMessage(...); to continue the ended execution, call resume(state, { grant }).`,
    );
  const run = new Run(definition, bus, state, options);
  startExecution(run, options.executionId);
  return run;
}

/** Starts a new execution without running it. */
export function openIdle(
  definition: AgentDefinition,
  bus: EventBus,
  state: AgentState,
  options: DurableOptions,
): AgentState {
  const run = openNew(definition, bus, state, options);
  run.dispose();
  announceStart(run, false);
  return run.state;
}

export async function openResumed(
  definition: AgentDefinition,
  bus: EventBus,
  input: AgentState | AgentStateJSON,
  options: DurableOptions,
): Promise<Run> {
  const state = AgentState.from(input);
  checkAgentName(definition, state);
  const { executionId, grant } = options;
  if (executionId !== undefined && executionId !== state.execution.id)
    throw new AgentError(
      'invalid_option',
      `resume() got executionId "${executionId}", and this state is in execution "${state.execution.id}". Leave it out.`,
    );
  const run = new Run(definition, bus, state, options);
  if (isOpen(state.status)) {
    if (run.answers.size > 0 || state.unfinishedStep) {
      const { boundAnswers } = await onDemand(import('./approvals.ts'));
      const areAccepted = options.answers !== undefined;
      run.answers = await boundAnswers(definition, state, run.answers, areAccepted);
    }
    if (options.inputs) {
      const { readInputs } = await onDemand(import('./read-inputs.ts'));
      const given = { by: options.by ?? null, now: run.now() };
      run.inputs = await readInputs(state, options.inputs, given);
    }
    continueRun(run, grant === undefined ? grant : checkedGrant(grant), grantedBy(run, options));
    return run;
  }
  const [lateInput] = Object.keys(options.inputs ?? {});
  if (lateInput !== undefined)
    throw new AgentError(
      'not_resumable',
      `This execution is ${state.status}, so the answer for ${show(lateInput)} comes too late: nothing was run.`,
      { details: { status: state.status, missing: [] } },
    );
  const [late] = run.answers;
  if (late) {
    const [callId, answer] = late;
    const { checkExecution } = await onDemand(import('./approvals.ts'));
    checkExecution(callId, answer, state);
    throw new AgentError(
      'not_resumable',
      `This execution is ${state.status}, so the answer for ${callId} comes too late: nothing was run.`,
      { details: { status: state.status, missing: [] } },
    );
  }
  reopen(run, grant, grantedBy(run, options));
  return run;
}

const grantedBy = (run: Run, { by, granted }: DurableOptions): GrantedBy => ({
  by: by ?? null,
  ...(granted ?? { authority: 'operator', at: isoTime(run.now()) }),
});

/** Continues an execution for `nextStep`. The wall clock keeps running between calls; a restored state restarts it. */
export function continueByHand(run: Run): void {
  checkAgentName(run.agent, run.state);
  continueInTime(run);
}

/** Options of a stop. `by` and `at` name who requested it and when, for `execution.stopRequest`. */
export interface StopOptions extends DurableOptions {
  readonly reason?: string;
  readonly at?: string;
}

export function stopOpen(
  definition: AgentDefinition,
  bus: EventBus,
  state: AgentState,
  options: StopOptions,
): AgentState {
  checkAgentName(definition, state);
  if (!isOpen(state.status)) return state;
  const run = new Run(definition, bus, state, options);
  continueInTime(run);
  if (state.executionStartedAt === null) run.state = run.state.with({ executionStartedAt: null });
  const reason = run.redactor.text(options.reason ?? DEFAULT_STOP);
  const { by, at = isoTime(run.now()) } = options;
  run.cancellation.cancel({ by: 'user', reason, at, ...(by !== undefined && { requestedBy: by }) });
  const { unfinishedStep } = state;
  observeStop(run, () => {
    if (unfinishedStep)
      closeStep(
        run,
        StepDraft.reopened(run, unfinishedStep, (json) => AgentState.from(json as never)),
      ); // our own JSON
    else {
      const outcome = resolveOutcome(run, run.now());
      settle(run, outcome, null, null);
      if (run.events.wants('ContinuationEvaluated'))
        run.events.emit('ContinuationEvaluated', { stepNumber: run.state.stepCount, outcome });
    }
  });
  run.dispose();
  end(run, run.previousStatus);
  return run.state;
}

export const openExecution = (state: AgentState, method: string): AgentError =>
  new AgentError(
    'execution_open',
    `${method}() got a state whose execution is ${state.status}. Continue it with resume(state${
      state.pendingApprovals.length > 0
        ? ', { approvals }'
        : state.pendingInputs.length > 0
          ? ', { inputs }'
          : ''
    }), or end it with stop(state).`,
    { details: { status: state.status, executionId: state.execution.id } },
  );
