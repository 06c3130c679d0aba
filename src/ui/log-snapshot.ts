import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { EnvelopeOf, WireUsage } from '../broadcasting/envelope.ts';
import { own } from '../json.ts';
import type { UiMessage } from './ui-message.ts';
import type { UiApproval, UiStop } from './ui-state.ts';

/** All text of an attempt up to this moment. */
export interface Discard {
  readonly step: number;
  readonly attempt: number;
  readonly at: string;
}

/** How far one agent of a run has come. */
export interface AgentTrack {
  /** Null for the agent that the user talks to. */
  readonly parent: string | null;
  /** Text of steps up to here is in the log, or void. */
  readonly doneStep: number;
  /** When its newest step began: unfinished text and arguments from before it are void. */
  readonly startedAt: string;
  /** Text that does not count. */
  readonly discarded: readonly Discard[];
  /** What an agent that runs as a tool is doing; null once it is over. */
  readonly note: UiMessage | null;
}

/** The execution that the log has come to. */
export interface UiRun {
  readonly id: string;
  /** The log is known without a hole up to here. */
  readonly after: number;
  /** Highest number that was seen. */
  readonly last: number;
  readonly hasHole: boolean;
  /** The log had no more when it was last read. */
  readonly isRead: boolean;
  readonly status: BroadcastStatus;
  readonly stop: UiStop | null;
  readonly stepCount: number;
  readonly usage: WireUsage;
  readonly approvals: readonly UiApproval[];
  /** The message that it answers, and the one that new tool calls belong to. */
  readonly inputId: string | null;
  readonly rowId: string | null;
  /** Whether its rows may be on screen in another way, from the server's record or over a hole; if not, all is new. */
  readonly isOverlaid: boolean;
  /** Whether steps are told: if not, tool calls are grouped by what is open. */
  readonly hasSteps: boolean;
  /** Calls that run, in order. */
  readonly open: readonly { readonly id: string; readonly name: string }[];
  /** What it does right now. */
  readonly note: UiMessage | null;
  readonly agents: Readonly<Record<string, AgentTrack>>;
}

/** What the log says up to a place, and nothing else: the same log gives the same screen. */
export interface LogSnapshot {
  /** The conversation, without anything that is still being made. */
  readonly rows: readonly UiMessage[];
  readonly run: UiRun | null;
  /** Earlier executions: how far they are known. */
  readonly behind: Readonly<Record<string, Pick<UiRun, 'after' | 'hasHole'>>>;
}

export const noUsage: WireUsage = Object.freeze({ input: 0, output: 0, total: 0 });
export const noApprovals: readonly UiApproval[] = Object.freeze([]);

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

/** Goes to an execution: the one before is over, and where its end was not seen something is missing. */
export function entered(snapshot: LogSnapshot, id: string): LogSnapshot & { readonly run: UiRun } {
  const { run, rows, behind } = snapshot;
  if (run?.id === id) return snapshot as LogSnapshot & { readonly run: UiRun };
  if (run === null) return { rows, behind, run: newRun(id) };
  const hasHole = run.hasHole || !(run.isRead || isEnd(run.status));
  return { rows, behind: { ...behind, [run.id]: { after: run.after, hasHole } }, run: newRun(id) };
}

/** Whatever is missing will not come any more. */
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
