import { AgentState } from '../agent/agent-state.ts';
import { isOpen } from '../agent/agent-status.ts';
import type { AgentStep } from '../agent/agent-step.ts';
import { pendingInputsIn } from '../agent/open-inputs.ts';
import type { Execution, SessionInfo } from '../agent/execution.ts';
import { countsIn } from '../continuation/retry-account.ts';
import type { PendingApproval } from '../events/agent-event.ts';
import type { Usage } from '../inference/usage.ts';
import { checkedSlimState, type CheckedSlimState } from './check-slim-state.ts';
import { openCallsOf, closeExecution, withoutGrants } from './close-execution.ts';
import { readSlimCompaction } from './slim-compactions.ts';
import { readSlimMessage } from './slim-message.ts';
import type { SlimApproval, SlimOutcome, SlimRest, SlimState } from './slim-state.ts';
import { readSlimOutcome, readSlimResult, readSlimStep } from './slim-step.ts';
import { readSlimRun } from './slim-records.ts';
import { camelKeys } from './snake-keys.ts';

/** Revives a slim document. An open execution stays open only if the document has everything it needs. */
export function readSlimState(json: unknown): AgentState {
  const slim = checkedSlimState(json);
  const children = Object.entries(slim.current_step?.children ?? {}).map(
    ([callId, child]) => [callId, readSlimState(child)] as const,
  );
  const read = stateOf(slim, children);
  const state = slim.rest?.output_is_text ? read.with({ output: read.outputText }) : read;
  const listed = slim.truncated?.missing ?? [];
  const missing = listed.length > 0 ? listed : gaps(state, slim, children);
  if (!isOpen(state.status) && openCallsOf(state).length === 0)
    return missing.length === 0 ? state : withoutGrants(state, missing);
  if (missing.length === 0) return state;
  const results = slim.current_step?.results ?? slim.rest?.results ?? [];
  return closeExecution(state, missing, results.map(readSlimResult));
}

/** Data that an open execution lacks, found without the document's own `truncated` report. */
function gaps(
  state: AgentState,
  slim: CheckedSlimState,
  children: readonly (readonly [string, AgentState])[],
): readonly string[] {
  const open = openCallsOf(state).map(({ id }) => id);
  const waiting = (state.unfinishedStep?.toolCalls ?? []).map(({ id }) => id);
  const gone = (isGone: boolean, what: string): readonly string[] => (isGone ? [what] : []);
  return [
    ...gone(open.join() !== waiting.join(), 'the step that its open calls belong to'),
    ...gone(isOpen(state.status) && slim.rest === undefined, 'the field "rest" of the document'),
    ...children
      .filter(([, child]) => !isOpen(child.status))
      .map(([callId]) => `the agent in ${callId}, which cannot continue`),
  ];
}

function stateOf(
  slim: CheckedSlimState,
  children: readonly (readonly [string, AgentState])[],
): AgentState {
  const { current_step: current, steps, last_continuation: last, rest, pause } = slim;
  const finished = steps.map(readSlimStep);
  const isUnfinished = current?.children !== undefined;
  if (current && !isUnfinished && finished.at(-1)?.id !== current.id)
    finished.push(readSlimStep(current));
  const execution = executionOf(slim);
  const unfinishedStep =
    current && isUnfinished
      ? {
          ...readSlimStep(current),
          children: Object.fromEntries(children.map(([id, child]) => [id, child.toJSON()])),
        }
      : null;
  // the list of the document is for display
  const pendingInputs = pendingInputsIn({ unfinishedStep, execution });
  return AgentState.from({
    version: 1,
    agentId: slim.agent_id,
    agentName: slim.agent_name,
    parentAgentId: slim.parent_agent_id,
    status: slim.status,
    info: sessionOf(slim),
    execution,
    executionStartedAt: null,
    messages: slim.messages.map(readSlimMessage),
    steps: finished,
    unfinishedStep,
    lastContinuationOutcome: last && readSlimOutcome({ ...last, ...resolvedBy(last, rest) }),
    pause: pause && {
      ...pause,
      ...(rest?.pause_reason ? { reason: rest.pause_reason } : null),
      pendingApprovals: slim.pending_approvals.map(readApproval),
      ...(pendingInputs.length > 0 && { pendingInputs }),
    },
    output: rest?.output ?? null,
    partialOutput: rest?.partial_output ?? null,
    metadata: slim.metadata,
    ...(rest?.compactions && { compactions: rest.compactions.map(readSlimCompaction) }),
  });
}

function readApproval(slim: SlimApproval): PendingApproval {
  const { args_omitted: _, ...approval } = slim;
  return camelKeys<PendingApproval>(approval);
}

function resolvedBy(
  last: NonNullable<SlimState['last_continuation']>,
  rest: SlimRest | undefined,
): Pick<SlimOutcome, 'evaluations' | 'decision' | 'at' | 'stopped_agents' | 'denied_calls'> {
  const guess = last.should_continue ? 'allow' : 'stop';
  return {
    decision: rest?.decision ?? guess,
    evaluations: rest?.evaluations ?? [],
    ...(rest?.outcome_at && { at: rest.outcome_at }),
    ...(rest?.stopped_agents && { stopped_agents: rest.stopped_agents }),
    ...(rest?.denied_calls && { denied_calls: rest.denied_calls }),
  };
}

function sessionOf({ session, execution, rest }: CheckedSlimState): SessionInfo {
  const { usage, ...more } = session;
  return {
    ...camelKeys<Pick<SessionInfo, 'startedAt' | 'stepCount' | 'cost'>>(more),
    usage: camelKeys<Usage>(usage),
    updatedAt: rest?.session_updated_at ?? session.started_at,
    answeredSteps: rest?.session_answered_steps ?? session.step_count,
    cumulativeExecutionSeconds: execution.session_cumulative_seconds,
  };
}

function executionOf(slim: CheckedSlimState): Execution {
  const { execution, rest, messages } = slim;
  const { usage, session_cumulative_seconds: _, ...more } = execution;
  const { consecutive_failures: consecutiveFailures } = execution;
  const failures = rest?.failures && camelKeys<Counts>(rest.failures);
  return {
    ...countsIn({ consecutiveFailures, ...failures }, lastTypeOf(slim)),
    ...camelKeys<
      Omit<
        Execution,
        | keyof Counts
        | 'usage'
        | 'stopRequest'
        | 'handledStep'
        | 'stretchSeconds'
        | 'succeededTools'
        | 'grantLog'
        | 'family'
        | 'runs'
        | 'traceparent'
        | 'firstMessage'
      >
    >(more),
    usage: camelKeys<Usage>(usage),
    stopRequest: rest?.stop_request ?? null,
    handledStep: rest?.handled_step ?? 0,
    stretchSeconds: null,
    succeededTools: rest?.succeeded_tools ?? [],
    ...(rest?.grant_log && { grantLog: rest.grant_log }),
    ...(rest?.family && { family: rest.family }),
    ...(rest?.runs && { runs: rest.runs.map(readSlimRun) }),
    ...(rest?.traceparent !== undefined && { traceparent: rest.traceparent }),
    firstMessage: rest?.first_message ?? messages.length,
  };
}

type Counts = Pick<Execution, 'modelFailures' | 'toolFailures' | 'failingTools'>;

/** Type of the last finished step of the execution, if the document has it. */
function lastTypeOf({
  steps,
  current_step: current,
  execution,
}: CheckedSlimState): AgentStep['type'] | undefined {
  const finished = current && current.children === undefined ? [...steps, current] : steps;
  return finished.findLast((s) => s.execution_id === execution.id && s.type !== 'cut')?.type;
}
