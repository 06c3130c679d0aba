import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionRuntime, SessionStore } from 'onward';
import type { SessionRow } from '../../src/sessions/session-rows.ts';
import { effectsFrom, readEffects, sizeOfLog } from './effect-log.ts';
import type { Plan } from './kill-agent.ts';
import { checkNextTurn, checkSessions, type CheckCounts } from './kill-check.ts';
import { openStore, removeStore, type StorePlace } from './open-store.ts';
import { between, pick, seededRandom, sleep } from './random.ts';
import { killRuntime, OWNER, type WorkerJob, type WorkerTask } from './worker-job.ts';
import { WorkerProcess } from './worker-process.ts';

export interface CampaignOptions {
  /** Where sessions are kept: a folder for SQLite, a server for PostgreSQL. */
  readonly store: { readonly kind: 'sqlite' } | { readonly kind: 'postgres'; readonly url: string };
  /** The worker, as {@link bundleWorker} makes it. */
  readonly workerFile: string;
  readonly seed: number;
  readonly sessions: number;
  /** Turns of each session, at least. */
  readonly turns: number;
  readonly kills: number;
  readonly workers: number;
  /** After this the sessions that are not done count as lost. */
  readonly maxMs: number;
  /** Leaves the folder with the log of effects, and the SQLite file, where something was wrong. */
  readonly keep?: boolean;
}

export interface CampaignReport extends CheckCounts {
  readonly seed: number;
  readonly sessions: number;
  readonly kills: number;
  /** Workers that were asked to go, as a deploy does. */
  readonly deploys: number;
  /** Workers that slept for longer than their leases last. */
  readonly freezes: number;
  readonly ms: number;
  readonly violations: readonly string[];
  /** Where the log of effects was left, null if it was removed. */
  readonly kept: string | null;
}

const LEASE = { leaseMs: 600, heartbeatMs: 120, signalMs: 100 };
const TICK_MS = 20;

/** Steps that plans are made of. */
const STEPS: Plan = [
  ['note'],
  ['look'],
  ['pay'],
  ['slow'],
  ['ask'],
  ['research'],
  ['consult'],
  ['note', 'look', 'pay'],
  ['look', 'look', 'slow', 'note'],
  ['pay', 'ask', 'look', 'ask'],
  ['research', 'pay', 'consult'],
];

/** Runs sessions on worker processes and kills them, then looks whether everything holds. Removes what it made. */
export async function killCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const folder = mkdtempSync(join(tmpdir(), 'onward-kill-'));
  const campaign = new Campaign(options, folder);
  let kept: string | null = null;
  try {
    const report = await campaign.run();
    if (options.keep && report.violations.length > 0) kept = folder;
    return { ...report, kept };
  } finally {
    await campaign.end();
    if (kept === null) rmSync(folder, { recursive: true, force: true });
  }
}

/** A session as its clients see it. */
interface Client {
  readonly session: string;
  turnsLeft: number;
  /** Somebody asks for something right now. */
  isBusy: boolean;
  sends: number;
}

class Campaign {
  readonly #options: CampaignOptions;
  readonly #random: () => number;
  readonly #job: WorkerJob;
  readonly #store: SessionStore;
  readonly #runtime: SessionRuntime;
  readonly #clients: readonly Client[];
  readonly #workers: Set<WorkerProcess> = new Set();
  readonly #violations: string[] = [];
  #kills = 0;
  #deploys = 0;
  #freezes = 0;
  #started = 0;
  #isKilling = true;

  constructor(options: CampaignOptions, folder: string) {
    const { seed } = options;
    this.#options = options;
    this.#random = seededRandom(seed);
    const log = join(folder, 'effects.log');
    writeFileSync(log, '');
    this.#job = { place: placeIn(folder, options), log, seed, lease: LEASE };
    this.#store = openStore(this.#job.place);
    // never started: it looks on, and takes the last turns
    const { runtime } = killRuntime(this.#job, this.#store, {
      onError: (error) => this.#wrong(`the parent failed: ${String(error)}`),
    });
    this.#runtime = runtime;
    this.#clients = Array.from({ length: options.sessions }, (_, i) => ({
      session: `s${i}`,
      turnsLeft: options.turns,
      isBusy: false,
      sends: 0,
    }));
  }

  async run(): Promise<Omit<CampaignReport, 'kept'>> {
    const { sessions, workers, seed } = this.#options;
    const began = performance.now();
    await Promise.all(Array.from({ length: workers }, () => this.#hire().ready));
    await Promise.all([this.#attend(), this.#killing()]);
    await this.#sendHome();
    const place = { store: this.#store, runtime: this.#runtime };
    const ids = this.#clients.map(({ session }) => session);
    const effects = readEffects(this.#job.log);
    const { counts, violations } = await checkSessions(place, ids, effects);
    const later =
      violations.length > 0 ? [] : await Promise.all(ids.map((id) => checkNextTurn(place, id)));
    return {
      seed,
      sessions,
      kills: this.#kills,
      deploys: this.#deploys,
      freezes: this.#freezes,
      ms: Math.round(performance.now() - began),
      ...counts,
      violations: [...this.#violations, ...violations, ...later.flat()],
    };
  }

  async end(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.kill()));
    await this.#runtime.close({ graceMs: 5_000 });
    await this.#store.close();
    await removeStore(this.#job.place);
  }

  #wrong(what: string): void {
    this.#violations.push(what);
  }

  #hire(): WorkerProcess {
    const { seed } = this.#options;
    const job = { ...this.#job, seed: seed + ++this.#started };
    const worker = new WorkerProcess(this.#options.workerFile, job);
    this.#workers.add(worker);
    void worker.exit.then((how) => {
      this.#workers.delete(worker);
      for (const failure of worker.failures) this.#wrong(`a worker failed: ${failure}`);
      if (how !== 'SIGKILL' && how !== 0)
        this.#wrong(`a worker ended by itself (${how}): ${worker.complaints}`);
    });
    return worker;
  }

  get #idle(): WorkerProcess[] {
    return [...this.#workers].filter(({ isReady }) => isReady);
  }

  get #isDone(): boolean {
    return this.#clients.every((client) => !client.isBusy && !this.#wantsMore(client));
  }

  /** As long as somebody kills, there has to be something to kill. */
  #wantsMore({ turnsLeft }: Client): boolean {
    return turnsLeft > 0 || this.#isKilling;
  }

  /** Asks for turns and answers approvals, through whatever worker is there, until every session has ended. */
  async #attend(): Promise<void> {
    const until = performance.now() + this.#options.maxMs;
    for (;;) {
      // in this order: what is asked for from now on is not in the rows
      const isDone = this.#isDone;
      const rows = await this.#store.list({ limit: 1000 });
      if (isDone && rows.every(({ phase }) => phase === 'idle')) return;
      const bySession = new Map(rows.map((row) => [row.id, row]));
      for (const client of this.#clients) {
        if (client.isBusy) continue;
        client.isBusy = true;
        void this.#serve(client, bySession.get(client.session)).finally(() => {
          client.isBusy = false;
        });
      }
      await sleep(TICK_MS);
      if (performance.now() > until) return;
    }
  }

  async #serve(client: Client, row: SessionRow | undefined): Promise<void> {
    const { session } = client;
    if (!row || row.phase === 'idle')
      return this.#wantsMore(client) ? this.#send(client, 'refuse') : undefined;
    if (row.phase === 'paused') return this.#goOn(session);
    const dice = this.#random();
    if (!this.#wantsMore(client) || dice > 0.012) return;
    if (dice < 0.003) await this.#ask({ do: 'stop', session });
    else if (dice < 0.006) await this.#ask({ do: 'pause', session });
    else await this.#send(client, 'queue');
  }

  /** A send that nobody acknowledged may have been accepted; another follows either way, under a name of its own. */
  async #send(client: Client, whenBusy: 'refuse' | 'queue'): Promise<void> {
    const { session } = client;
    const length = 1 + Math.floor(this.#random() * 4);
    const plan = Array.from({ length }, () => pick(this.#random, STEPS) ?? []);
    const execution = `${session}-${++client.sends}`;
    const answer = await this.#ask({ do: 'send', session, execution, plan, whenBusy });
    if (answer === 'done') client.turnsLeft -= 1;
  }

  async #goOn(session: string): Promise<void> {
    const found = await this.#runtime.get(session, { owner: OWNER });
    if (found.status !== 'paused') return;
    const { pendingApprovals, executionId } = found;
    if (pendingApprovals.length === 0) return void (await this.#ask({ do: 'resume', session }));
    const execution = executionId ?? '';
    for (const { callId } of pendingApprovals) {
      const answer = this.#random() < 0.75 ? 'approve' : 'deny';
      await this.#ask({ do: 'answer', session, execution, callId, answer });
    }
  }

  async #ask(task: WorkerTask): Promise<Awaited<ReturnType<WorkerProcess['ask']>>> {
    const worker = pick(this.#random, this.#idle);
    const answer = worker ? await worker.ask(task) : 'died';
    // one that is leaving has closed its store
    if (typeof answer === 'object' && worker?.isReady && !expected.has(answer.refused))
      this.#wrong(`${JSON.stringify(task)} was refused: ${answer.refused}`);
    return answer;
  }

  async #killing(): Promise<void> {
    const { kills, maxMs } = this.#options;
    const until = performance.now() + maxMs;
    while (this.#kills < kills && performance.now() < until) {
      await sleep(between(this.#random, 20, 260));
      const dice = this.#random();
      const chosen = pick(this.#random, this.#idle);
      if (dice < 0.36) await this.#killBusy();
      else if (dice < 0.72) this.#kill(chosen);
      else if (dice < 0.8) for (const worker of this.#idle) this.#kill(worker);
      else if (dice < 0.9) this.#deploy(chosen);
      else this.#freeze(chosen);
    }
    this.#isKilling = false;
  }

  /** Aims at a worker whose tool has begun just now. */
  async #killBusy(): Promise<void> {
    const { log } = this.#job;
    const place = await sizeOfLog(log);
    for (let tries = 0; tries < 30; tries++) {
      await sleep(3);
      const begun = (await effectsFrom(log, place)).findLast(({ kind }) => kind === 'begin');
      if (begun) return this.#kill(this.#idle.find(({ pid }) => pid === begun.pid));
    }
  }

  #kill(worker: WorkerProcess | undefined): void {
    if (!worker) return;
    this.#kills += 1;
    worker.isReady = false;
    void worker.kill();
    this.#hire();
  }

  #deploy(worker: WorkerProcess | undefined): void {
    if (!worker) return;
    this.#deploys += 1;
    worker.isReady = false;
    void worker.ask({ do: 'close' });
    this.#hire();
  }

  /** For longer than its leases last: others take over, and what it writes afterwards is refused. */
  #freeze(worker: WorkerProcess | undefined): void {
    if (!worker) return;
    this.#freezes += 1;
    void worker.freeze(between(this.#random, 1, 2) * LEASE.leaseMs);
  }

  async #sendHome(): Promise<void> {
    const leaving = [...this.#workers].map(async (worker) => {
      await worker.ready.catch(() => {});
      await worker.ask({ do: 'close' });
      await worker.exit;
    });
    await Promise.race([Promise.all(leaving), sleep(15_000)]);
  }
}

/** What may be said to a client that acts on what it saw a moment ago. */
const expected: ReadonlySet<string> = new Set([
  'conflict',
  'awaiting_approval',
  'not_resumable',
  'unknown_approval',
  'runtime_closed',
]);

const placeIn = (folder: string, { store, seed }: CampaignOptions): StorePlace =>
  store.kind === 'sqlite'
    ? { kind: 'sqlite', path: join(folder, 'sessions.db') }
    : { kind: 'postgres', url: store.url, schema: `kill_${seed}` };
