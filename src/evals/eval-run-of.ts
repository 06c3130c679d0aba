import { AgentState, type AgentStateJSON, type AgentStepJSON } from '../agent/agent-state.ts';
import type { UnfinishedStep, AgentStep } from '../agent/agent-step.ts';
import { explainState } from '../continuation/explain-state.ts';
import type { AgentEvent, EventOf } from '../events/agent-event.ts';
import { systemClock } from '../clock.ts';
import type { JsonObject } from '../json.ts';
import type { ToolResultKind } from '../tools/tool-result.ts';
import { LoggedAgents } from '../trace/logged-agents.ts';
import { traceOf } from '../trace/trace-of.ts';
import type { EvalCall, EvalRun } from './eval-run.ts';

/** Maximum calls of nested agents that are kept for a run. */
const MAX_NESTED = 5_000;

/**
 * Reads the last execution of a state as a run, for scorers and matchers. `events` of the run add the times of its trace
 * and the calls of nested agents.
 */
export function evalRunOf<Output = unknown>(
  given: AgentState<Output> | AgentStateJSON,
  events: readonly AgentEvent[] = [],
): EvalRun<Output> {
  const state = AgentState.from(given) as AgentState<Output>;
  const steps = state.execution.id === '' ? [] : stepsOf(state);
  return runOfRecords(
    state,
    steps.map((step) => ({ ...step, outcome: step.outcome?.toJSON() ?? null })),
    events,
  );
}

/** Builds a run from a state, the steps of its execution and their events. */
export function runOfRecords<Output = unknown>(
  state: AgentState<Output>,
  steps: readonly AgentStepJSON[],
  events: readonly AgentEvent[],
): EvalRun<Output> {
  const { execution, lastContinuationOutcome: outcome } = state;
  const executionId = execution.id === '' ? null : execution.id;
  const { status, stopReason, pause, pendingApprovals, pendingInputs } = state;
  const json = outcome?.toJSON() ?? null;
  return {
    input: [...state.messages].findLast((message) => message.isUser())?.text ?? '',
    output: state.output,
    outputText: state.outputText,
    status,
    stopReason,
    explanation: explanationOf(state),
    calls: callsOf(steps, state.unfinishedStep, events),
    stepCount: execution.answeredSteps,
    usage: execution.usage,
    cost: execution.cost,
    durationMs: execution.cumulativeSeconds * 1000,
    sessionId: null,
    executionId,
    trace: traceOf({
      session: {
        id: state.agentId,
        agent: state.agentName ?? 'agent',
        executionId,
        status,
        stopReason,
        pause,
        pendingApprovals,
        pendingInputs,
        allowance: null,
        outcome: json,
      },
      executionId,
      executions:
        executionId === null
          ? []
          : [{ id: executionId, startedAt: execution.startedAt, stepCount: execution.stepCount }],
      steps,
      events,
      accounts: execution,
      accountsAfter: execution,
      now: systemClock.now(),
    }),
    state,
  };
}

const stepsOf = ({ steps, execution }: AgentState): readonly AgentStep[] =>
  Array.from({ length: execution.stepCount }, (_, i) =>
    steps.at(steps.length - execution.stepCount + i),
  ).filter((step) => step !== undefined);

function explanationOf(state: AgentState): string {
  const { lastContinuationOutcome: outcome, stopReason } = state;
  if (outcome && stopReason !== null) return outcome.explain();
  const { headline, detail } = explainState(state);
  return [headline, detail].filter(Boolean).join(' ');
}

/** Returns all calls in order, with those of nested agents behind the call that runs the agent. */
function callsOf(
  steps: readonly Pick<AgentStep, 'toolCalls' | 'results' | 'number'>[],
  open: UnfinishedStep | null,
  events: readonly AgentEvent[],
): readonly EvalCall[] {
  const nested = nestedCalls(events);
  return [...steps, ...(open ? [open] : [])].flatMap((step) =>
    step.toolCalls.flatMap(({ id, name, args }): EvalCall[] => {
      const result = step.results.find(({ callId }) => callId === id);
      const own: EvalCall = {
        tool: name,
        args,
        step: step.number,
        agent: null,
        kind: result?.kind ?? 'waiting',
        result: result?.value ?? null,
        error: result?.error?.message ?? (result && result.kind !== 'ok' ? result.kind : null),
        durationMs: result?.durationMs ?? 0,
      };
      return [own, ...(nested.get(id) ?? []).map((call) => ({ ...call, step: step.number }))];
    }),
  );
}

const resultKinds: ReadonlySet<string> = new Set<ToolResultKind>([
  'denied',
  'aborted',
  'blocked',
  'timeout',
]);

/** Returns the calls of nested agents by the root agent's call behind which they ran. */
function nestedCalls(events: readonly AgentEvent[]): ReadonlyMap<string, readonly EvalCall[]> {
  const found = new Map<string, EvalCall[]>();
  if (!events.some(({ parentAgentId }) => parentAgentId !== null)) return found;
  const agents = new LoggedAgents();
  for (const event of events) agents.take(event);
  const args = new Map<string, JsonObject>();
  let count = 0;
  for (const event of events) {
    if (event.parentAgentId === null || count >= MAX_NESTED) continue;
    if (event.type === 'ToolCallStarted') args.set(event.toolCallId, event.args);
    if (event.type !== 'ToolCallCompleted') continue;
    const agent = agents.get(event.agentId);
    if (!agent) continue;
    const [root = agent] = agents.above(agent);
    const calls = found.get(root.callId) ?? [];
    calls.push(nestedCall(event, agent.name, args.get(event.toolCallId)));
    found.set(root.callId, calls);
    count += 1;
  }
  return found;
}

function nestedCall(
  event: EventOf<'ToolCallCompleted'>,
  agent: string,
  started: JsonObject | undefined,
): EvalCall {
  const { tool, success, errorCode = '', error, result, durationMs } = event;
  const failed = resultKinds.has(errorCode) ? (errorCode as ToolResultKind) : 'error'; // in the set
  const args = typeof event.args === 'object' ? event.args : (started ?? {});
  const kind = success ? 'ok' : failed;
  return { tool, args, step: 0, agent, kind, result, error, durationMs };
}
