import { isoTime } from '../clock.ts';
import { inTime } from './in-time.ts';
import type { SessionWorker } from './session-worker.ts';
import { REPORT_MS, type WorkerDescription } from './worker-description.ts';

/** How long the end of a worker waits for its last report. */
const LAST_MS = 2_000;

type Reporting = Pick<SessionWorker, 'id' | 'lookup' | 'leaseMs' | 'isDraining'>;

/** The part of Node we need, asked for by name so that bundlers leave it alone. */
interface NodeProcess {
  readonly pid?: number;
  getBuiltinModule?(name: 'node:os'): { hostname(): string } | undefined;
}

/** Reports to operators from time to time that a worker runs, and what it does. A report that fails delays nothing. */
export class WorkerReporter {
  readonly #worker: Reporting;
  readonly #active: () => number;
  readonly #startedAt: string;
  readonly #everyMs: number;
  #timer: ReturnType<typeof setInterval> | null = null;
  /** One report at a time, so that the last one is the last that is written. */
  #reporting: Promise<void> | null = null;

  constructor(worker: Reporting, active: () => number) {
    this.#worker = worker;
    this.#active = active;
    this.#startedAt = isoTime(worker.lookup.clock.now());
    this.#everyMs = Math.ceil(Math.min(REPORT_MS, worker.leaseMs));
  }

  /** Reports now and every 10 seconds. */
  start(): void {
    if (this.#timer !== null) return;
    this.#timer = setInterval(() => this.report(), this.#everyMs);
    this.report();
  }

  /** Reports what has changed, if it has begun to report. */
  report(): void {
    if (this.#timer === null || this.#reporting !== null) return;
    this.#reporting = this.#write(JSON.stringify(this.#description())).finally(
      () => (this.#reporting = null),
    );
  }

  /** Takes the worker off the list: it has closed. */
  async end(): Promise<void> {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    const last = (async () => {
      await this.#reporting;
      await this.#write(null);
    })();
    await inTime(last, LAST_MS, () => new Error('no answer')).catch(() => {}); // it is listed as lost
  }

  /** The sweep says what is wrong with the store. */
  async #write(body: string | null): Promise<void> {
    const { id: worker, lookup } = this.#worker;
    try {
      await lookup.store.reportWorker({ worker, body });
    } catch {
      // the next one may be written
    }
  }

  #description(): WorkerDescription {
    const { lookup, isDraining } = this.#worker;
    return {
      ...processName(),
      agents: lookup.agentNames,
      startedAt: this.#startedAt,
      everyMs: this.#everyMs,
      active: this.#active(),
      isDraining,
    };
  }
}

function processName(): Pick<WorkerDescription, 'host' | 'pid'> {
  const { process } = globalThis as { process?: NodeProcess };
  const pid = process?.pid ?? null;
  try {
    return { host: process?.getBuiltinModule?.('node:os')?.hostname() ?? null, pid };
  } catch {
    return { host: null, pid };
  }
}
