import type { SessionRow } from '../session-rows.ts';
import {
  REPORT_KEPT_MS,
  type AgentLoad,
  type WorkerLoad,
  type Workload,
} from '../store-requests.ts';

export interface KeptReport {
  readonly worker: string;
  readonly body: string;
  /** Time of the report in milliseconds, by the clock of the store. */
  readonly seen: number;
}

type Counted = Pick<SessionRow, 'agent' | 'phase' | 'worker' | 'isLeased' | 'deaths' | 'updatedAt'>;
type Counting<T> = { -readonly [K in keyof T]: T[K] };

export const isKeptReport = ({ seen }: KeptReport, now: number): boolean =>
  seen >= now - REPORT_KEPT_MS;

/** Counts open and parked sessions by agent, and the leases of each worker. */
export function workloadOf(
  rows: Iterable<Counted>,
  reports: readonly KeptReport[],
  now: number,
): Workload {
  const agents = new Map<string, Counting<AgentLoad>>();
  const workers = new Map<string, Counting<WorkerLoad>>();
  const workerLoad = (worker: string) =>
    entryOf(workers, worker, { worker, leases: 0, expired: 0, body: null, seenMsAgo: null });
  for (const report of reports) {
    if (!isKeptReport(report, now)) continue;
    const load = workerLoad(report.worker);
    load.body = report.body;
    load.seenMsAgo = Math.max(0, now - report.seen);
  }
  for (const row of rows) {
    if (row.phase === 'open' || row.phase === 'parked')
      count(row, entryOf(agents, row.agent, noWork(row.agent)));
    if (row.worker !== null) workerLoad(row.worker)[row.isLeased ? 'leases' : 'expired']++;
  }
  return { agents: inOrder(agents), workers: inOrder(workers) };
}

function count({ phase, worker, isLeased, deaths, updatedAt }: Counted, load: Counting<AgentLoad>) {
  if (phase === 'parked') load.parked++;
  else if (worker === null) {
    load.waiting++;
    if (load.waitingSince === null || updatedAt < load.waitingSince) load.waitingSince = updatedAt;
  } else if (isLeased) {
    load.active++;
    if (deaths > 0) load.recovered++;
  } else load.expired++;
}

const noWork = (agent: string): AgentLoad => ({
  agent,
  waiting: 0,
  waitingSince: null,
  active: 0,
  recovered: 0,
  expired: 0,
  parked: 0,
});

function entryOf<T>(entries: Map<string, T>, name: string, empty: T): T {
  const entry = entries.get(name) ?? empty;
  entries.set(name, entry);
  return entry;
}

/** By code point, as the databases sort. */
const inOrder = <T>(entries: ReadonlyMap<string, T>): T[] =>
  [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
