import type { WorkerLoad } from './session-store.ts';
import { describedWorker, REPORT_MS, type WorkerDescription } from './worker-description.ts';

/**
 * `busy` holds leases, `idle` reports and holds none, `draining` claims nothing more, `lost` has let its leases or its
 * reports run out: its process ended without closing, or does not reach the store.
 */
export type WorkerStatus = 'busy' | 'idle' | 'draining' | 'lost';

/** A worker as operators see it. What it did not report is null. */
export interface WorkerView extends Pick<WorkerDescription, 'host' | 'pid' | 'startedAt'> {
  readonly id: string;
  readonly status: WorkerStatus;
  /** Names of the agents that it runs; null where it made no report. */
  readonly agents: readonly string[] | null;
  /** Sessions that it worked on when it last reported. */
  readonly active: number | null;
  /** Leases that it holds now. */
  readonly leases: number;
  /** Leases that ran out and that no other worker has taken over yet. */
  readonly expired: number;
  /** Milliseconds since its last report, by the clock of the store. */
  readonly seenMsAgo: number | null;
}

/** A worker is lost when it was silent for so many of its reports: 20 seconds by default. */
const MISSED_REPORTS = 2;

export function workerView(load: WorkerLoad): WorkerView {
  const { worker: id, leases, expired, seenMsAgo } = load;
  const described = describedWorker(load.body);
  return {
    id,
    status: statusOf(load, described),
    host: described?.host ?? null,
    pid: described?.pid ?? null,
    agents: described?.agents ?? null,
    startedAt: described?.startedAt ?? null,
    active: described?.active ?? null,
    leases,
    expired,
    seenMsAgo: seenMsAgo === null ? null : Math.round(seenMsAgo),
  };
}

/** A lease proves that a worker lives, whatever became of its reports. */
function statusOf(
  { leases, expired, seenMsAgo }: WorkerLoad,
  described: WorkerDescription | null,
): WorkerStatus {
  const isSilent =
    seenMsAgo === null || seenMsAgo > MISSED_REPORTS * (described?.everyMs ?? REPORT_MS);
  if (leases === 0 && (expired > 0 || isSilent)) return 'lost';
  if (described?.isDraining) return 'draining';
  return leases > 0 ? 'busy' : 'idle';
}
