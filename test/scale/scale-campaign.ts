import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentError, type SessionRuntime } from 'onward';
import type { SessionRow, SessionStore } from 'onward/stores';
import { readEffects, sizeOfLog, type Effect } from '../kill/effect-log.ts';
import { checkSessions, type CheckCounts } from '../kill/kill-check.ts';
import { openStore, removeStore } from '../kill/open-store.ts';
import { sleep } from '../kill/random.ts';
import { ScriptedClients } from '../kill/scripted-clients.ts';
import { killRuntime, type WorkerJob } from '../kill/worker-job.ts';
import type { WorkerProcess } from '../kill/worker-process.ts';
import { WorkerSlots } from '../kill/worker-slots.ts';
import { removeFolder } from '../setup/folders.ts';
import type { TestPostgres } from '../setup/postgres.ts';
import type { TestRedis } from '../setup/redis.ts';
import { tcpProxy, type TcpProxy } from '../setup/tcp-proxy.ts';
import { IdleControl } from './idle-control.ts';
import { HeldSessions, type TakeoverDelay } from './held-sessions.ts';
import { describeScaleFault, scaleFaultKinds, scaleFaults } from './scale-faults.ts';
import type { ScaleFault, ScaleFaultKind } from './scale-faults.ts';
import type { SharedPlaces } from './shared-options.ts';

type ServerName = 'postgres' | 'redis';

export interface ScaleOptions {
  readonly postgres: TestPostgres;
  readonly redis: TestRedis | null;
  /** The worker program, from {@link bundleProgram}. */
  readonly workerFile: string;
  readonly seed: number;
  readonly bus: ServerName;
  /** Null: each process has its own queue. */
  readonly queue: ServerName | null;
  readonly sessions: number;
  /** Minimum number of turns per session. */
  readonly turns: number;
  /** Longest pause between two turns of a session. */
  readonly pauseMs: number;
  /** How many times longer than in the kill campaign tools and model calls take. */
  readonly pace: number;
  readonly workers: number;
  /** Sessions that a worker runs at the same time. */
  readonly concurrency: number;
  /** Faults of processes and servers; without them the queue works as it should. */
  readonly faults: number;
  /** Default: all that apply. */
  readonly kinds?: readonly ScaleFaultKind[];
  readonly leaseMs: number;
  /** Sessions that are unfinished after this long without progress count as lost. Default 60,000 ms. */
  readonly patienceMs?: number;
}

export interface ScaleReport extends CheckCounts {
  readonly seed: number;
  readonly sessions: number;
  readonly faults: Readonly<Partial<Record<ScaleFaultKind, number>>>;
  readonly delays: readonly TakeoverDelay[];
  /** Longest delay of a session whose worker was killed, beyond the lease and what an idle process waited meanwhile. */
  readonly longestBeyondLease: number | null;
  /** First turns of sessions, by the worker process that began them. */
  readonly begun: readonly number[];
  readonly ms: number;
  readonly violations: readonly string[];
  readonly schedule: readonly string[];
}

/** For the parent process, which only reads. */
const PARENT_LEASE = { leaseMs: 15_000, heartbeatMs: 5_000, signalMs: 400 };
/** After a restart, connections are made again and what was lost is found. */
const RECONNECT_MS = 2_000;
/** How long a worker may take to start. */
const START_MS = 30_000;

/** Runs sessions on worker processes behind a sender, breaks processes, servers and the bus, then checks the result. */
export async function scaleCampaign(options: ScaleOptions): Promise<ScaleReport> {
  const folder = mkdtempSync(join(tmpdir(), 'onward-scale-'));
  const proxy = await tcpProxy(urlOf(options, options.bus));
  const campaign = new Campaign(options, folder, proxy);
  try {
    return await campaign.run();
  } finally {
    await campaign.end();
    await proxy.close();
    removeFolder(folder);
  }
}

class Campaign {
  readonly #options: ScaleOptions;
  readonly #job: WorkerJob;
  readonly #proxy: TcpProxy;
  readonly #store: SessionStore;
  readonly #runtime: SessionRuntime;
  readonly #workers: WorkerSlots;
  readonly #sender: WorkerSlots;
  readonly #clients: ScriptedClients;
  readonly #control: IdleControl = new IdleControl();
  readonly #held: HeldSessions;
  readonly #schedule: readonly ScaleFault[];
  readonly #killed: Set<number> = new Set();
  readonly #done: Partial<Record<ScaleFaultKind, number>> = {};
  readonly #violations: string[] = [];

  constructor(options: ScaleOptions, folder: string, proxy: TcpProxy) {
    const { seed, postgres, queue, concurrency, leaseMs, pace, workers, faults } = options;
    const log = join(folder, 'effects.log');
    writeFileSync(log, '');
    this.#options = options;
    this.#proxy = proxy;
    const name = `scale_${seed}`;
    const shared: SharedPlaces = {
      bus: { url: proxy.url, channel: name },
      queue: {
        concurrency,
        ...(queue && { connection: urlOf(options, queue), prefix: `${name}_queue` }),
      },
      work: true,
      faults: faults > 0 ? 0.1 : 0,
    };
    const place = { kind: 'postgres', url: postgres.url, schema: name } as const;
    const lease = { leaseMs, heartbeatMs: leaseMs / 4, signalMs: 400 };
    this.#job = { place, log, seed, lease, pace, shared };
    this.#store = openStore(place);
    const { runtime } = killRuntime({ ...this.#job, lease: PARENT_LEASE }, this.#store, {
      onError: (error) => this.#wrong(`the parent failed: ${String(error)}`),
      options: { work: false },
    });
    this.#runtime = runtime;
    const left = (worker: WorkerProcess, how: NodeJS.Signals | number | null): void => {
      for (const { failed, code } of worker.failures)
        if (!this.#isExcused(code)) this.#wrong(`a process failed: ${failed}`);
      if (how !== 'SIGKILL' && how !== 0)
        this.#wrong(`a process ended by itself (${how}): ${worker.complaints}`);
    };
    const slot = { job: this.#job, env: {} };
    const file = options.workerFile;
    this.#workers = new WorkerSlots(
      file,
      Array.from({ length: workers }, () => slot),
      left,
    );
    const sending = { ...slot, job: { ...this.#job, shared: { ...shared, work: false } } };
    this.#sender = new WorkerSlots(file, [sending], left);
    this.#held = new HeldSessions(leaseMs, this.#control);
    const kinds = (options.kinds ?? scaleFaultKinds).filter(
      (kind) => kind !== 'redis' || queue === 'redis' || options.bus === 'redis',
    );
    this.#schedule = scaleFaults(seed, { count: faults, kinds, workers, leaseMs });
    this.#clients = new ScriptedClients({
      ...options,
      runtime,
      slots: this.#sender,
      retry: (session) => this.#store.request(session, { retry: new Date().toISOString() }),
      isExcused: (code) => this.#isExcused(code),
      wrong: (what) => this.#wrong(what),
    });
  }

  async run(): Promise<ScaleReport> {
    const { seed, sessions, turns } = this.#options;
    const began = performance.now();
    await Promise.all([this.#workers.ready(), this.#sender.ready()]);
    await Promise.all([this.#attend(), this.#breakAll().then(() => this.#clients.calm())]);
    await this.#close();
    const ms = Math.round(performance.now() - began);
    const place = { store: this.#store, runtime: this.#runtime };
    const effects = readEffects(this.#job.log);
    const checked = await checkSessions(place, this.#clients.sessions, effects, ms / 1000);
    return {
      seed,
      sessions,
      ...checked.counts,
      faults: this.#done,
      delays: this.#held.delays,
      longestBeyondLease: this.#held.longestBeyondLease,
      begun: this.#firstTurns(effects),
      ms,
      violations: [...this.#violations, ...checked.violations, ...this.#repeats(effects)],
      schedule: [`${turns} turns`, ...this.#schedule.map(describeScaleFault)],
    };
  }

  async end(): Promise<void> {
    this.#control.end();
    await Promise.all([this.#workers.killAll(), this.#sender.killAll()]);
    await this.#runtime.close({ graceMs: 5_000 });
    await this.#store.close();
    await removeStore(this.#job.place);
  }

  #wrong(what: string): void {
    this.#violations.push(what);
  }

  #isExcused(code: string): boolean {
    if (this.#options.faults === 0) return false;
    return code === 'store_failed' || code === 'bus_failed' || code === 'queue_failed';
  }

  /** Lets the clients send and answer until every session has ended or nothing happens any more. */
  async #attend(): Promise<void> {
    const { patienceMs = 60_000, sessions } = this.#options;
    let written = 0;
    let since = performance.now();
    while (performance.now() - since < patienceMs) {
      // in this order, because later requests are not in the rows
      const { isDone } = this.#clients;
      const rows = await this.#rows();
      if (isDone && rows?.every(({ phase }) => phase === 'idle')) return;
      if (rows) {
        this.#held.saw(rows);
        this.#clients.attend(rows);
      }
      await sleep(20 + sessions / 5);
      const size = await sizeOfLog(this.#job.log);
      if (size > written) since = performance.now();
      written = size;
    }
  }

  /** Null while the store is not available. */
  async #rows(): Promise<readonly SessionRow[] | null> {
    try {
      return await this.#store.list({ limit: 1000 });
    } catch (error) {
      if (AgentError.is(error) && this.#isExcused(error.code)) return null;
      throw error;
    }
  }

  async #breakAll(): Promise<void> {
    for (const fault of this.#schedule) {
      await sleep(fault.afterMs);
      await this.#break(fault);
      this.#done[fault.kind] = (this.#done[fault.kind] ?? 0) + 1;
    }
  }

  async #break({ kind, ms, slots }: ScaleFault): Promise<void> {
    if (kind === 'kill')
      for (const slot of slots) {
        await this.#kill(slot);
        await sleep(ms / slots.length);
      }
    else if (kind === 'bus') {
      this.#proxy.refuse();
      this.#proxy.cutAll();
      await sleep(ms);
      this.#proxy.accept();
    } else {
      const server = this.#options[kind];
      if (!server?.kill) return;
      const from = performance.now();
      await server.kill();
      await sleep(ms);
      await server.restart();
      if (kind === 'postgres') this.#held.outage(from, performance.now() + RECONNECT_MS);
    }
  }

  /** Kills a worker while it holds sessions, and starts another in its place. */
  async #kill(slot: number): Promise<void> {
    const until = performance.now() + START_MS;
    while (!this.#workers.at(slot) && performance.now() < until) await sleep(20);
    const worker = this.#workers.at(slot);
    if (!worker) return this.#wrong(`worker ${slot} did not start`);
    this.#killed.add(worker.pid);
    await worker.kill();
    const at = performance.now();
    this.#workers.replace(slot);
    const claims = readEffects(this.#job.log).filter(({ kind }) => kind === 'claimed');
    const id = claims.find(({ pid }) => pid === worker.pid)?.what;
    let rows = await this.#rows();
    while (!rows) {
      await sleep(50);
      rows = await this.#rows();
    }
    if (id !== undefined) this.#held.killed(id, at, rows);
  }

  /** How many sessions each worker began, in a campaign without kills. */
  #firstTurns(effects: readonly Effect[]): number[] {
    const byPid = new Map<number, number>(this.#workers.all.map(({ pid }) => [pid, 0]));
    const seen = new Set<string>();
    for (const { kind, session, pid } of effects) {
      if (kind !== 'claimed' || seen.has(session)) continue;
      seen.add(session);
      byPid.set(pid, (byPid.get(pid) ?? 0) + 1);
    }
    return [...byPid.values()];
  }

  /** A call begins again only where the process that began it was killed, or lost the database. */
  #repeats(effects: readonly Effect[]): string[] {
    if (this.#done.postgres) return [];
    const begins = new Map<string, number>();
    const wrong: string[] = [];
    for (const { kind, session, execution, subject, pid } of effects) {
      if (kind !== 'begin') continue;
      const key = `${session} ${execution} ${subject}`;
      const before = begins.get(key);
      if (before !== undefined && !this.#killed.has(before))
        wrong.push(`${key} began again, and process ${before}, which began it, was not killed`);
      begins.set(key, pid);
    }
    return wrong;
  }

  async #close(): Promise<void> {
    const leaving = [...this.#workers.all, ...this.#sender.all].map(async (worker) => {
      await worker.ready.catch(() => {});
      await worker.ask({ do: 'close' });
      await worker.exit;
    });
    await Promise.race([Promise.all(leaving), sleep(20_000)]);
  }
}

function urlOf({ postgres, redis }: ScaleOptions, server: ServerName): string {
  const found = server === 'redis' ? redis : postgres;
  if (!found) throw new Error('There is no Redis: choose PostgreSQL.');
  return found.url;
}

/** Formats a campaign as one line. */
export function scaleLine(report: ScaleReport, leaseMs: number): string {
  const first = report.delays.filter(({ isFirstDeath }) => isFirstDeath).map(({ ms }) => ms);
  const sorted = first.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    `${Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? 0)}`;
  const late = Math.round(Math.max(0, ...report.delays.map(({ idleLateMs }) => idleLateMs)));
  return [
    `seed ${report.seed}`,
    `${report.sessions} sessions`,
    `${report.executions} executions`,
    `faults: ${
      Object.entries(report.faults)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(' ') || 'none'
    }`,
    `${report.steps} steps`,
    `${report.toolRuns} tool runs`,
    `${report.unknownFates} unknown fates`,
    `${report.begunAgain} begun again`,
    first.length > 0
      ? `${first.length} taken over p50 ${at(0.5)} max ${at(1)} ms (lease ${leaseMs} ms, an idle process waited up to ${late} ms of it)`
      : `first turns by worker: ${report.begun.join(' ')}`,
    `${report.delays.length - first.length} after a second death`,
    `${report.violations.length} violations`,
    `${(report.ms / 1000).toFixed(1)} s`,
  ].join(', ');
}
