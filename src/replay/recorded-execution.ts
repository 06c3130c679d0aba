import { AppendOnly } from '../append-only.ts';
import { AgentState, type AgentStateJSON, type AgentStepJSON } from '../agent/agent-state.ts';
import { isOpen } from '../agent/agent-status.ts';
import type { AgentStep } from '../agent/agent-step.ts';
import type { Execution, SessionInfo } from '../agent/execution.ts';
import { AgentError, invalidOption } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import { Messages } from '../messages/messages.ts';

/** The parts of a session's export that a replay reads. */
export interface RecordedSession {
  readonly state: Pick<AgentStateJSON, 'status' | 'info' | 'execution' | 'unfinishedStep'>;
  readonly steps: readonly {
    /** `''` for the session's own agent. */
    readonly agentId: string;
    readonly step: AgentStepJSON;
    /** Totals right after the step. The last step of each execution needs them. */
    readonly totals?: { readonly execution: Execution; readonly info: SessionInfo };
  }[];
  readonly messages?: readonly {
    readonly agentId: string;
    readonly message: AgentStateJSON['messages'][number];
  }[];
  /** The execution of another session that the session continues under its own id. */
  readonly forkedFrom?: string;
}

/** What a replay reads: a state, its JSON, or a session's export. */
export type Recorded = AgentState | AgentStateJSON | RecordedSession;

/** One execution as it was recorded. */
export interface RecordedExecution {
  /** Totals at the end. */
  readonly execution: Execution;
  /** Totals of the session at the end. */
  readonly info: SessionInfo;
  /** The recorded steps, by number. Pruned ones are missing. */
  readonly steps: readonly AgentStep[];
  /** Steps of earlier executions. */
  readonly earlier: readonly AgentStep[];
  /** Null if the messages were not read. */
  readonly messages: Messages | null;
  /** Whether a step began that is not finished. */
  readonly isMidStep: boolean;
  readonly isOpen: boolean;
  readonly isNested: boolean;
}

/** Reads one execution: the named one, else the newest. */
export function recordedExecution(recorded: Recorded, executionId?: string): RecordedExecution {
  if (isSession(recorded)) return executionOfSession(recorded, executionId);
  const state = AgentState.from(recorded);
  const { execution, info, messages, unfinishedStep, status, parentAgentId } = state;
  if (executionId !== undefined && executionId !== execution.id)
    throw unknownExecution(executionId, [execution.id]);
  const all = state.steps.slice(0);
  return {
    execution,
    info,
    steps: all.filter((step) => step.executionId === execution.id),
    earlier: all.filter((step) => step.executionId !== execution.id),
    messages,
    isMidStep: unfinishedStep !== null,
    isOpen: isOpen(status),
    isNested: parentAgentId !== null,
  };
}

/** Lists the ids of the recorded executions, oldest first. */
function executionsIn(recorded: Recorded): readonly string[] {
  if (!isSession(recorded)) {
    const { id } = recorded.execution;
    return id === '' ? [] : [id];
  }
  const ids = new Set(ownSteps(recorded).map(({ step }) => step.executionId));
  const { id } = recorded.state.execution;
  if (id !== '') ids.add(id);
  return [...ids];
}

function isSession(recorded: Recorded): recorded is RecordedSession {
  if (!isRecord(recorded) && !((recorded as unknown) instanceof AgentState))
    throw invalidOption('replay', recorded, "a state, its JSON, or a session's export");
  return 'state' in recorded && isRecord(recorded.state);
}

/** The steps of the session's own agent, with the id of its execution in a fork. */
const ownSteps = ({ steps, forkedFrom, state }: RecordedSession): RecordedSession['steps'] =>
  steps.flatMap((one) => {
    if (one.agentId !== '') return [];
    if (forkedFrom === undefined || one.step.executionId !== forkedFrom) return [one];
    return [{ ...one, step: { ...one.step, executionId: state.execution.id } }];
  });

function executionOfSession(
  recorded: RecordedSession,
  executionId: string | undefined,
): RecordedExecution {
  const { state, messages } = recorded;
  const id = executionId ?? state.execution.id;
  const all = ownSteps(recorded);
  const own = all.filter(({ step }) => step.executionId === id);
  const isNewest = id === state.execution.id;
  const totals = isNewest ? state : own.at(-1)?.totals;
  if (!totals) throw unknownExecution(id, executionsIn(recorded));
  const [first] = own;
  const before = first ? all.slice(0, all.indexOf(first)) : all;
  return {
    ...readTotals(totals),
    steps: readSteps(own.map(({ step }) => step)),
    earlier: readSteps(before.map(({ step }) => step)),
    messages: messages
      ? Messages.from(messages.flatMap((one) => (one.agentId === '' ? [one.message] : [])))
      : null,
    isMidStep: isNewest && state.unfinishedStep !== null,
    isOpen: isNewest && isOpen(state.status),
    isNested: false,
  };
}

/** Reads recorded totals like those of a state, which fills in what older releases omitted. */
export function readTotals({
  execution,
  info,
}: {
  readonly execution: Execution;
  readonly info: SessionInfo;
}): Pick<RecordedExecution, 'execution' | 'info'> {
  return AgentState.from({ ...empty, execution, info });
}

/** Reads recorded steps like those of a state. */
export const readSteps = (steps: readonly AgentStepJSON[]): readonly AgentStep[] =>
  AgentState.from({ ...empty, steps }).steps.slice(0);

/** Whether a record says why a step was followed by another, or was not. Slim states keep only the decision. */
export const isReasoned = ({ outcome }: AgentStep): boolean =>
  outcome !== null && outcome.evaluations.length > 0;

const empty = AgentState.empty({ agentId: 'replay', now: 0 }).toJSON();

/** Makes the list of steps before the first one. */
export const earlierSteps = ({ earlier }: RecordedExecution): AppendOnly<AgentStep> =>
  AppendOnly.of(earlier);

const unknownExecution = (id: string, known: readonly string[]): AgentError =>
  new AgentError(
    'invalid_option',
    `The record has no execution "${id}". It has: ${known.join(', ') || 'none'}.`,
    { details: { executionId: id } },
  );
