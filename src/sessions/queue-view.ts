import type { AgentLoad, Workload } from './session-store.ts';
import { workerView } from './worker-view.ts';

/** How much work there is, of all owners. */
export interface QueueCounts {
  /** Open sessions that no worker holds. */
  readonly waiting: number;
  /** Milliseconds since the last change of the session that has waited longest. */
  readonly oldestWaitingMs: number | null;
  /** Sessions that a worker holds. */
  readonly active: number;
  /** Active sessions that were taken over from a lost worker. */
  readonly recovered: number;
  /** Sessions of lost workers that no other worker has taken over yet. */
  readonly expired: number;
  readonly parked: number;
  /** Workers that claim such sessions now. */
  readonly workers: number;
}

interface AgentQueue extends QueueCounts {
  readonly agent: string;
}

export interface QueueView extends QueueCounts {
  /** Agents with open or parked sessions, or with a worker, ordered by name. */
  readonly agents: readonly AgentQueue[];
}

/** `now` is in milliseconds since the epoch. */
export function queueView({ agents, workers }: Workload, now: number): QueueView {
  const running = workers
    .map(workerView)
    .filter(({ status }) => status === 'busy' || status === 'idle');
  const loads = new Map(agents.map((load) => [load.agent, load]));
  const names = new Set([...loads.keys(), ...running.flatMap((one) => one.agents ?? [])]);
  const rows = [...names]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((agent) => ({
      agent,
      ...countsOf(loads.get(agent), now),
      workers: running.filter((one) => one.agents?.includes(agent)).length,
    }));
  const sum = (of: 'waiting' | 'active' | 'recovered' | 'expired' | 'parked'): number =>
    rows.reduce((total, row) => total + row[of], 0);
  const ages = rows.flatMap(({ oldestWaitingMs }) => oldestWaitingMs ?? []);
  return {
    waiting: sum('waiting'),
    oldestWaitingMs: ages.length === 0 ? null : Math.max(...ages),
    active: sum('active'),
    recovered: sum('recovered'),
    expired: sum('expired'),
    parked: sum('parked'),
    workers: running.length,
    agents: rows,
  };
}

function countsOf(load: AgentLoad | undefined, now: number): Omit<QueueCounts, 'workers'> {
  const { waiting = 0, waitingSince = null, active = 0 } = load ?? {};
  const { recovered = 0, expired = 0, parked = 0 } = load ?? {};
  const since = waitingSince === null ? Number.NaN : Date.parse(waitingSince);
  const age = Number.isNaN(since) ? null : Math.max(0, Math.round(now - since));
  return { waiting, oldestWaitingMs: age, active, recovered, expired, parked };
}
