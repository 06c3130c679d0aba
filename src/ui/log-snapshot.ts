import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { EnvelopeOf, WireUsage } from '../broadcasting/envelope.ts';
import { own } from '../json.ts';
import type { UiMessage } from './ui-message.ts';
import type { UiApproval, UiInput, UiStop } from './ui-state.ts';

/** All text of an attempt up to this time is void. */
export interface Discard {
  readonly step: number;
  readonly attempt: number;
  readonly at: string;
}

/** Progress of one agent of a run. */
export interface AgentTrack {
  /** Null for the root agent. */
  readonly parent: string | null;
  /** Last step with text that is in the log or void. */
  readonly doneStep: number;
  /** Start of its newest step: unfinished text and arguments from before are void. */
  readonly startedAt: string;
  /** Text that is void. */
  readonly discarded: readonly Discard[];
  /** Status line of a nested agent; null when it has ended. */
  readonly note: UiMessage | null;
}

/** The execution that the log has reached. */
export interface UiRun {
  readonly id: string;
  /** Number up to which the log has no gap. */
  readonly after: number;
  /** Highest number that was seen. */
  readonly last: number;
  readonly hasHole: boolean;
  /** Whether the last read reached the end of the log. */
  readonly isRead: boolean;
  readonly status: BroadcastStatus;
  readonly stop: UiStop | null;
  readonly stepCount: number;
  readonly usage: WireUsage;
  readonly approvals: readonly UiApproval[];
  readonly inputs: readonly UiInput[];
  /** The message that it answers; `rowId` is the message that new tool calls belong to. */
  readonly inputId: string | null;
  readonly rowId: string | null;
  /**
   * Whether its rows may already be in the list, from the server's record or across a gap. If not, all rows are new.
   */
  readonly isOverlaid: boolean;
  /** Whether the server sends steps. If not, tool calls are grouped by what is open. */
  readonly hasSteps: boolean;
  /** Running calls, in order. */
  readonly open: readonly { readonly id: string; readonly name: string }[];
  /** Line that shows current activity. */
  readonly note: UiMessage | null;
  readonly agents: Readonly<Record<string, AgentTrack>>;
}

/** State derived from the log up to a position and nothing else: the same log gives the same view. */
export interface LogSnapshot {
  /** The conversation, without unfinished text. */
  readonly rows: readonly UiMessage[];
  readonly run: UiRun | null;
  /** Progress of earlier executions. */
  readonly behind: Readonly<Record<string, Pick<UiRun, 'after' | 'hasHole'>>>;
}

export const noUsage: WireUsage = Object.freeze({ input: 0, output: 0, total: 0 });
export const noApprovals: readonly UiApproval[] = Object.freeze([]);
export const noInputs: readonly UiInput[] = Object.freeze([]);

export const isEnd = (status: BroadcastStatus): boolean =>
  status === 'completed' || status === 'stopped' || status === 'cancelled' || status === 'failed';

export const newSnapshot = (rows: readonly UiMessage[]): LogSnapshot => ({
  rows,
  run: null,
  behind: {},
});

export const newRun = (id: string): UiRun => ({
  id,
  after: 0,
  last: 0,
  hasHole: false,
  isRead: false,
  status: 'processing',
  stop: null,
  stepCount: 0,
  usage: noUsage,
  approvals: noApprovals,
  inputs: noInputs,
  inputId: null,
  rowId: null,
  isOverlaid: true,
  hasSteps: false,
  open: [],
  note: null,
  agents: {},
});

const newTrack: AgentTrack = {
  parent: null,
  doneStep: 0,
  startedAt: '',
  discarded: [],
  note: null,
};

export const trackOf = (run: UiRun, agentId: string): AgentTrack =>
  own(run.agents, agentId) ?? newTrack;

export const withTrack = (run: UiRun, agentId: string, patch: Partial<AgentTrack>): UiRun => ({
  ...run,
  agents: { ...run.agents, [agentId]: { ...trackOf(run, agentId), ...patch } },
});

export const withDiscard = (
  run: UiRun,
  { agent_id, payload, timestamp }: EnvelopeOf<'agent.stream.discarded'>,
): UiRun => {
  const { step, attempt } = payload;
  const { discarded } = trackOf(run, agent_id);
  return withTrack(run, agent_id, { discarded: [...discarded, { step, attempt, at: timestamp }] });
};

/** Switches to an execution: the previous one is over, and has a gap if its end was not seen. */
export function entered(snapshot: LogSnapshot, id: string): LogSnapshot & { readonly run: UiRun } {
  const { run, rows, behind } = snapshot;
  if (run?.id === id) return snapshot as LogSnapshot & { readonly run: UiRun };
  if (run === null) return { rows, behind, run: newRun(id) };
  const hasHole = run.hasHole || !(run.isRead || isEnd(run.status));
  return { rows, behind: { ...behind, [run.id]: { after: run.after, hasHole } }, run: newRun(id) };
}

/** Marks all gaps as closed: what is missing will not arrive. */
export function withoutHoles(snapshot: LogSnapshot): LogSnapshot {
  const { rows, run, behind } = snapshot;
  if (!hasHoles(snapshot)) return snapshot;
  return {
    rows,
    run: run && { ...run, after: run.last, hasHole: false, isOverlaid: true },
    behind: Object.fromEntries(
      Object.entries(behind).map(([id, known]) => [id, { ...known, hasHole: false }]),
    ),
  };
}

export const hasHoles = ({ run, behind }: LogSnapshot): boolean =>
  run?.hasHole === true || Object.values(behind).some(({ hasHole }) => hasHole);
