import type { AgentState, AgentStateJSON } from '../agent/agent-state.ts';
import type { UnfinishedStep } from '../agent/agent-step.ts';
import type { Compaction } from '../agent/compaction.ts';
import { spendingOf } from '../agent/family-shares.ts';
import { newExecution, type Execution, type SessionInfo } from '../agent/execution.ts';
import { versionOf, type VersionedState } from '../agent/state-migrations.ts';
import { zeroUsage } from '../inference/usage.ts';
import { own } from '../json.ts';
import type { Message, MessageJSON } from '../messages/message.ts';
import type { ImportNote } from './imported-session.ts';
import type { StepRequest, StoredRequest } from './requests/stored-request.ts';
import type { SessionRow } from './session-rows.ts';

/**
 * Offset of the loaded part within the whole conversation. A session is loaded as its newest messages and steps, and
 * rows are stored by their position in the session.
 */
export interface Placement {
  /** Position of a message in the store minus its position in the loaded state. */
  readonly messages: number;
  readonly steps: number;
  readonly compactions: number;
  /** Number of loaded messages that come from before the loaded part: instructions, and the user message of the turn. */
  readonly leading: number;
}

export const wholeConversation: Placement = { messages: 0, steps: 0, compactions: 0, leading: 0 };

/** The session and step from which a session was forked. */
export interface SessionOrigin {
  readonly sessionId: string;
  /** Number of copied steps. */
  readonly step: number;
  readonly at: string;
}

/** A state without its history, as the store keeps it in one row. */
export interface StateHeader {
  readonly version: 1;
  /** Salt that makes the names of large values impossible to guess. */
  readonly salt: string;
  /** Name of the large value that holds prompt and tools. */
  readonly definition: string | null;
  /** Name of the large value that holds the parts of requests beside messages; left out while there is none. */
  readonly requestFrame?: string;
  /** Title from the first user message, redacted; left out while there is none. */
  readonly title?: string;
  /** Messages that the session was created with, until the first run writes them as rows. */
  readonly seed?: readonly MessageJSON[];
  /** The execution of another session that this one continues under its own id. */
  readonly forkedFrom?: string;
  /** The session and step from which this one was forked; left out for one that was not, and by release 0.1.0. */
  readonly origin?: SessionOrigin;
  /** Number of compactions; left out while there are none. */
  readonly compactions?: number;
  /** Set on an imported session, which is read-only. */
  readonly imported?: ImportNote;
  /** Messages of the current step. They become rows when it is done. */
  readonly pending?: readonly MessageJSON[];
  /** The request of the unfinished step. */
  readonly request?: StepRequest;
  readonly state: Omit<AgentStateJSON, 'messages' | 'steps' | 'compactions'>;
}

/** Totals after one step, from which a fork at that step starts. */
export interface ForkPoint {
  readonly messages: number;
  /** Left out while there are none. */
  readonly compactions?: number;
  readonly execution: Execution;
  readonly info: SessionInfo;
  /** How the model was called in this step; absent if it was not, and in rows of earlier releases. */
  readonly request?: StoredRequest;
}

export function headState(state: AgentState, placement: Placement): StateHeader['state'] {
  const { unfinishedStep, lastContinuationOutcome: outcome } = state;
  const isOfLastStep = outcome !== null && state.steps.at(-1)?.outcome === outcome;
  return {
    version: state.version,
    agentId: state.agentId,
    agentName: state.agentName,
    parentAgentId: state.parentAgentId,
    status: state.status,
    info: state.info,
    execution: placed(state.execution, placement),
    executionStartedAt: state.executionStartedAt,
    unfinishedStep: unfinishedStep && unfinishedJson(unfinishedStep),
    // during the work it is read from the step
    lastContinuationOutcome:
      isOfLastStep && state.status === 'in_progress' ? null : (outcome?.toJSON() ?? null),
    pause: state.pause,
    output: state.output,
    partialOutput: state.partialOutput,
    metadata: state.metadata,
    ...(state.approvalRules.length > 0 && { approvalRules: state.approvalRules }),
  };
}

/** Format with the grant log, usage per agent, failures by kind, parts of results, questions and compactions. Earlier releases would drop them. */
export const GRANT_LOG_REQUIRES = 2;

/** Returns the format that a state requires, if not every release can work on it. */
export const requirementOf = (
  state: VersionedState & { readonly approvalRules?: readonly unknown[] },
  hasCompactions: boolean,
): { readonly requires?: number } =>
  state.execution.grantLog === undefined &&
  state.execution.family === undefined &&
  (state.approvalRules?.length ?? 0) === 0 &&
  !hasCompactions &&
  versionOf(state) === 1
    ? anyRelease
    : { requires: GRANT_LOG_REQUIRES };

const anyRelease = {};

/** Builds a header from the row, for a header that this release cannot read. */
export const unreadHead = ({
  executionId,
  agent,
  status,
  stepCount,
  createdAt,
  updatedAt,
}: SessionRow): StateHeader => ({
  version: 1,
  salt: '',
  definition: null,
  state: {
    version: 1,
    agentId: '',
    agentName: agent,
    parentAgentId: null,
    status,
    info: {
      startedAt: createdAt,
      updatedAt,
      stepCount,
      answeredSteps: 0,
      usage: zeroUsage,
      cost: null,
      cumulativeExecutionSeconds: 0,
    },
    execution: newExecution(executionId ?? '', null, 0),
    executionStartedAt: null,
    unfinishedStep: null,
    lastContinuationOutcome: null,
    pause: null,
    output: null,
    partialOutput: null,
    metadata: {},
  },
});

/** Removes nested agents, which have their own rows. Keeps how much of their usage is in the step's totals. */
function unfinishedJson(step: UnfinishedStep): NonNullable<AgentStateJSON['unfinishedStep']> {
  // without nested agents it is already JSON
  if (Object.keys(step.children).length === 0) return step;
  const accounts = Object.entries(step.children).map(
    ([callId, child]) =>
      [callId, own(step.childAccounts ?? {}, callId) ?? spendingOf(child)] as const,
  );
  return {
    ...step,
    outcome: null,
    children: {},
    childAccounts: Object.fromEntries(accounts),
  };
}

const placed = (execution: Execution, { messages }: Placement): Execution =>
  messages === 0 ? execution : { ...execution, firstMessage: execution.firstMessage + messages };

/** Returns a compaction with positions of the store. */
export const placedCompaction = (
  compaction: Compaction,
  { messages, leading }: Placement,
): Compaction =>
  messages === 0
    ? compaction
    : {
        ...compaction,
        // messages from before the loaded part have other positions
        fromPosition: Math.max(compaction.fromPosition, leading) + messages,
        toPosition: Math.max(compaction.toPosition, leading) + messages,
      };

/** Returns a compaction with positions of the loaded messages. */
export const loadedCompaction = (
  compaction: Compaction,
  offset: number,
  leading: number,
): Compaction => ({
  ...compaction,
  fromPosition: compaction.fromPosition - offset,
  // a summary may end before the loaded part, if that is limited
  toPosition: Math.max(leading, compaction.toPosition - offset),
});

/** A compaction of a session. Its positions are those of `runtime.messages`. */
export type SessionCompaction = Compaction & {
  /** Number of messages of the conversation when it was made. */
  readonly messageCount: number;
};

/** A compaction as the store keeps it. */
export type StoredCompaction = SessionCompaction & {
  /** Of a summary: the ids and positions of the tool results that it covers. Left out if there are none. */
  readonly results?: string;
};

/** Returns the number of compactions that the store has with this state, as a header or mark keeps it. */
export const compactionCount = (
  { compactions }: Pick<AgentState, 'compactions'>,
  placement: Placement,
): { readonly compactions?: number } => {
  const count = compactions.length + placement.compactions;
  return count === 0 ? noCount : { compactions: count };
};

const noCount = {};

export const markOf = (state: AgentState, placement: Placement): ForkPoint => ({
  messages: state.messages.length + placement.messages,
  ...compactionCount(state, placement),
  execution: placed(withRunsAtEnd(state), placement),
  info: state.info,
});

/** The totals for a mark: only the end of a run has the list of runs, so that marks stay small. */
function withRunsAtEnd({ status, execution }: AgentState): Execution {
  if (execution.runs === undefined || status !== 'in_progress') return execution;
  const { runs: _, ...rest } = execution;
  return rest;
}

/**
 * Returns the role under which a message is stored. A history window keeps `system` rows; a `user` row begins a turn,
 * unless the loop wrote it.
 */
export function rowRole({ role, metadata }: Message): string {
  if (role === 'developer') return 'system';
  return role === 'user' && metadata['synthetic'] === true ? 'synthetic' : role;
}
