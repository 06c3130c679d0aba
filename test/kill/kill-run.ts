import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentError, type SessionRuntime } from 'onward';
import type { SessionRow, SessionStore } from 'onward/stores';
import { shiftedWall, type ShiftedWall } from '../setup/fake-time.ts';
import { postgresProxy, type PostgresProxy } from '../setup/postgres-proxy.ts';
import type { TestPostgres } from '../setup/postgres.ts';
import { readEffects, sizeOfLog } from './effect-log.ts';
import { describeFault, faultSchedule, type Fault, type FaultKind } from './fault-schedule.ts';
import { checkNextTurn, checkSessions, type CheckCounts } from './kill-check.ts';
import { openStore, removeStore, type StorePlace } from './open-store.ts';
import { sleep } from './random.ts';
import { Saboteur } from './saboteur.ts';
import { ScriptedClients } from './scripted-clients.ts';
import { killRuntime, type WorkerJob } from './worker-job.ts';
import { WorkerSlots } from './worker-slots.ts';
import { removeFolder } from '../setup/folders.ts';

export interface CampaignOptions {
  /** Null for SQLite. */
  readonly server: TestPostgres | null;
  /** The worker program, from {@link bundleProgram}. */
  readonly workerFile: string;
  readonly seed: number;
  readonly sessions: number;
  /** Minimum number of turns per session. */
  readonly turns: number;
  readonly faults: number;
  readonly kinds: readonly FaultKind[];
  readonly workers: number;
  /** Sessions that are unfinished after this long without progress count as lost. Default 30,000 ms. */
  readonly patienceMs?: number;
  /** Whether to keep the folder with the effect log and the SQLite file after a violation. */
  readonly keep?: boolean;
}

export interface CampaignReport extends CheckCounts {
  readonly seed: number;
  readonly sessions: number;
  /** Faults applied to the workers and their store, by kind. */
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  /** How many times a session was parked and retried. */
  readonly retries: number;
  readonly ms: number;
  readonly violations: readonly string[];
  /** The planned faults, one line each. */
  readonly schedule: readonly string[];
  /** The folder with the effect log, or null if it was removed. */
  readonly kept: string | null;
}

const LEASE = { leaseMs: 600, heartbeatMs: 120, signalMs: 100 };
/** For the parent process, which a busy machine may block for longer than the leases of workers. */
const PATIENT_LEASE = { leaseMs: 15_000, heartbeatMs: 5_000, signalMs: 100 };
const STATEMENT_MS = 700;
const TICK_MS = 20;

/**
 * Runs sessions on worker processes, applies the faults of a seed, then checks the result. Removes everything it
 * created.
 */
export async function killCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const folder = mkdtempSync(join(tmpdir(), 'onward-kill-'));
  const proxies: PostgresProxy[] = [];
  const { server, workers } = options;
  for (let i = 0; server && i < workers; i++) proxies.push(await postgresProxy(server.url));
  const campaign = new Campaign(options, folder, proxies);
  let kept: string | null = null;
  try {
    const report = await campaign.run();
    if (options.keep && report.violations.length > 0) kept = folder;
    return { ...report, kept };
  } finally {
    await campaign.end();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    if (kept === null) removeFolder(folder);
  }
}

class Campaign {
  readonly #options: CampaignOptions;
  readonly #job: WorkerJob;
  readonly #store: SessionStore;
  readonly #runtime: SessionRuntime;
  readonly #schedule: readonly Fault[];
  readonly #slots: WorkerSlots;
  readonly #saboteur: Saboteur;
  readonly #clients: ScriptedClients;
  readonly #clocks: readonly ShiftedWall[] = [];
  readonly #violations: string[] = [];
  #retries = 0;

  constructor(options: CampaignOptions, folder: string, proxies: readonly PostgresProxy[]) {
    const { seed, server, workers, kinds, faults: count } = options;
    this.#options = options;
    const log = join(folder, 'effects.log');
    writeFileSync(log, '');
    const place = placeIn(folder, options);
    this.#job = { place, log, seed, lease: LEASE };
    this.#store = openStore(place);
    // never started: it only watches, and takes the last turns
    const { runtime } = killRuntime({ ...this.#job, lease: PATIENT_LEASE }, this.#store, {
      onError: (error) => this.#wrong(`the parent failed: ${String(error)}`),
    });
    this.#runtime = runtime;
    if (kinds.includes('clock'))
      this.#clocks = Array.from({ length: workers }, () => shiftedWall());
    const slots = Array.from({ length: workers }, (_, i) => ({
      job: { ...this.#job, place: through(place, proxies[i]) },
      env: this.#clocks[i]?.env ?? {},
    }));
    this.#slots = new WorkerSlots(options.workerFile, slots, (worker, how) => {
      for (const { failed, code } of worker.failures)
        // a parked session is retried manually
        if (code !== 'parked' && !this.#isExcused(code)) this.#wrong(`a worker failed: ${failed}`);
      if (how !== 'SIGKILL' && how !== 0)
        this.#wrong(`a worker ended by itself (${how}): ${worker.complaints}`);
    });
    this.#schedule = faultSchedule(seed, { count, kinds, slots: workers, leaseMs: LEASE.leaseMs });
    const file = place.kind === 'sqlite' ? place.path : null;
    const clocks = this.#clocks;
    this.#saboteur = new Saboteur({ slots: this.#slots, log, proxies, clocks, server, file });
    this.#clients = new ScriptedClients({
      ...options,
      runtime,
      slots: this.#slots,
      retry: (session) => {
        this.#retries += 1;
        return this.#store.request(session, { retry: new Date().toISOString() });
      },
      isExcused: (code) => this.#isExcused(code),
      wrong: (what) => this.#wrong(what),
    });
  }

  async run(): Promise<Omit<CampaignReport, 'kept'>> {
    const { sessions, seed } = this.#options;
    const began = performance.now();
    await this.#slots.ready();
    const faults = this.#saboteur.carryOut(this.#schedule);
    await Promise.all([this.#attend(), faults.then(() => this.#clients.calm())]);
    await this.#sendHome();
    const seconds = (performance.now() - began) / 1000;
    const place = { store: this.#store, runtime: this.#runtime };
    const ids = this.#clients.sessions;
    const effects = readEffects(this.#job.log);
    const { counts, violations } = await checkSessions(place, ids, effects, seconds);
    const isSound = violations.length === 0;
    const later = isSound ? await Promise.all(ids.map((id) => checkNextTurn(place, id))) : [];
    return {
      seed,
      sessions,
      faults: this.#saboteur.done,
      ms: Math.round(performance.now() - began),
      ...counts,
      retries: this.#retries,
      violations: [...this.#violations, ...violations, ...later.flat()],
      schedule: this.#schedule.map(describeFault),
    };
  }

  async end(): Promise<void> {
    await this.#slots.killAll();
    for (const clock of this.#clocks) clock.remove();
    await this.#runtime.close({ graceMs: 5_000 });
    await this.#store.close();
    await removeStore(this.#job.place);
  }

  #wrong(what: string): void {
    this.#violations.push(what);
  }

  /** Whether a store may fail with this code under the current faults. */
  #isExcused(code: string): boolean {
    return code === 'store_failed' && this.#options.kinds.some((kind) => breaksStores.has(kind));
  }

  /** Lets the clients send and answer until every session has ended or nothing happens any more. */
  async #attend(): Promise<void> {
    const { patienceMs = 30_000 } = this.#options;
    let written = 0;
    let since = performance.now();
    while (performance.now() - since < patienceMs) {
      // in this order, because later requests are not in the rows
      const { isDone } = this.#clients;
      const rows = await this.#rows();
      if (isDone && rows?.every(({ phase }) => phase === 'idle')) return;
      if (rows) this.#clients.attend(rows);
      await sleep(TICK_MS);
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

  async #sendHome(): Promise<void> {
    const leaving = this.#slots.all.map(async (worker) => {
      await worker.ready.catch(() => {});
      await worker.ask({ do: 'close' });
      await worker.exit;
    });
    await Promise.race([Promise.all(leaving), sleep(20_000)]);
  }
}

/** A frozen process may hold the lock of a SQLite file or miss a statement timeout. */
const breaksStores: ReadonlySet<FaultKind> = new Set([
  'freeze',
  'lost-reply',
  'silence',
  'cut',
  'crash',
  'lock',
]);

const placeIn = (folder: string, { server, seed }: CampaignOptions): StorePlace =>
  server
    ? { kind: 'postgres', url: server.url, schema: `kill_${seed}` }
    : { kind: 'sqlite', path: join(folder, 'sessions.db') };

const through = (place: StorePlace, proxy: PostgresProxy | undefined): StorePlace =>
  place.kind === 'postgres' && proxy
    ? { ...place, url: proxy.url, statementTimeoutMs: STATEMENT_MS }
    : place;
