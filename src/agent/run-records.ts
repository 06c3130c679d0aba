import type { FamilyShare } from '../continuation/family-share.ts';
import type { Grants } from '../continuation/grants.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import type { StopRequest } from '../continuation/run-view.ts';
import type { AgentStatus } from './agent-status.ts';
import type { Execution } from './execution.ts';

/** Most records. The oldest ones are dropped, so that an execution with many pauses stays small. */
const MAX_RECORDS = 100;

/** How a run ended. */
export interface RunOutcome {
  readonly at: string;
  readonly status: AgentStatus;
  /** Null after a pause. */
  readonly stopReason: StopReason | null;
}

/** Usage of a model call that was dropped in a handover. It belongs to no step. */
export interface DroppedUsage {
  readonly tokens: number;
  readonly cost: number | null;
  readonly seconds: number;
  readonly family?: readonly FamilyShare[];
}

/** One `run()` or `resume()` call of an execution. */
export interface RunRecord {
  /** ISO time at which its wall clock started. */
  readonly at: string;
  /** Number of recorded steps before it. */
  readonly afterStep: number;
  /** Hash of the limits and policy; their values are in the first step that was recorded under them. */
  readonly policy: string;
  /** Who started it, if the caller named them. */
  readonly by?: string;
  readonly grant?: Grants;
  /** It reopened an ended execution. */
  readonly isReopened?: true;
  /** Seconds that it may take after a grant for a wall-clock stop. */
  readonly seconds?: number;
  /** Absent while it runs, and if its process ended without one. */
  readonly outcome?: RunOutcome;
  /** The request that ended it, once it is no longer `execution.stopRequest`. */
  readonly stop?: StopRequest;
  readonly dropped?: DroppedUsage;
}

export type RunRecords = readonly RunRecord[];

type WithRuns = Pick<Execution, 'runs'>;

/** Adds the record of a run that begins. */
export const beginRun = ({ runs = [] }: WithRuns, record: RunRecord): RunRecords => {
  const all = [...runs, record];
  return all.length > MAX_RECORDS ? all.slice(-MAX_RECORDS) : all;
};

/** Adds to the record of the newest run; does nothing without one, such as in a nested agent. */
export function amendRun({ runs }: WithRuns, more: Partial<RunRecord>): WithRuns {
  const last = runs?.at(-1);
  return runs && last ? { runs: [...runs.slice(0, -1), { ...last, ...more }] } : {};
}

/** Returns the totals with the end of the newest run. */
export const endedRun = (
  execution: Execution,
  at: string | undefined,
  status: AgentStatus,
  stopReason: StopReason | null,
): Execution => ({
  ...execution,
  ...amendRun(execution, { outcome: { at: at ?? '', status, stopReason } }),
});

/** Whether the policy of a step is not that of the step before, so that the step records it. */
export function isPolicyNew({ runs = [] }: WithRuns, stepNumber: number): boolean {
  const now = runs.at(-1);
  const before = runs.findLast(({ afterStep }) => afterStep < stepNumber - 1);
  return now !== undefined && before?.policy !== now.policy;
}

/** Freezes the records deeply, because a state never changes. */
export function freezeRuns(runs: RunRecords): void {
  if (Object.isFrozen(runs)) return;
  for (const run of runs) {
    for (const part of [run.grant, run.outcome, run.stop, run.dropped]) Object.freeze(part);
    Object.freeze(run);
  }
  Object.freeze(runs);
}

/** Copies the records of a document, which must stay unfrozen. */
export const copiedRuns = (runs: RunRecords): RunRecords =>
  runs.map((run) => ({
    ...run,
    ...(run.grant && { grant: { ...run.grant } }),
    ...(run.outcome && { outcome: { ...run.outcome } }),
    ...(run.stop && { stop: { ...run.stop } }),
    ...(run.dropped && { dropped: { ...run.dropped } }),
  }));
