import { seedOf } from './random.ts';
import type { WorkerJob } from './worker-job.ts';
import { WorkerProcess } from './worker-process.ts';

/** The settings of a worker slot, for every process in it. */
export interface Slot {
  readonly job: WorkerJob;
  readonly env: Readonly<Record<string, string>>;
}

/** A fixed number of slots, each with a worker. A worker that exits is replaced. */
export class WorkerSlots {
  readonly #file: string;
  readonly #slots: readonly Slot[];
  readonly #left: (worker: WorkerProcess, how: NodeJS.Signals | number | null) => void;
  /** By slot. */
  readonly #workers: WorkerProcess[];
  /** All workers, including those that are exiting. */
  readonly #all: Set<WorkerProcess> = new Set();
  #started = 0;

  constructor(
    file: string,
    slots: readonly Slot[],
    left: (worker: WorkerProcess, how: NodeJS.Signals | number | null) => void,
  ) {
    this.#file = file;
    this.#slots = slots;
    this.#left = left;
    this.#workers = slots.map((_slot, i) => this.#start(i));
  }

  get all(): readonly WorkerProcess[] {
    return [...this.#all];
  }

  get indexes(): readonly number[] {
    return [...this.#slots.keys()];
  }

  async ready(): Promise<void> {
    await Promise.all(this.#workers.map(({ ready }) => ready));
  }

  /** The worker in a slot, if it is ready. */
  at(slot: number): WorkerProcess | undefined {
    const worker = this.#workers[slot];
    return worker?.isReady ? worker : undefined;
  }

  /** The first ready worker, starting at this slot. */
  from(slot: number): WorkerProcess | undefined {
    const count = this.#workers.length;
    return this.indexes.map((i) => this.at((slot + i) % count)).find((worker) => worker);
  }

  /** Starts another worker in the slot. The caller handles the old one. */
  replace(slot: number): void {
    const old = this.#workers[slot];
    if (old) old.isReady = false;
    this.#workers[slot] = this.#start(slot);
  }

  async killAll(): Promise<void> {
    await Promise.all(this.all.map((worker) => worker.kill()));
  }

  #start(slot: number): WorkerProcess {
    const given = this.#slots[slot];
    if (!given) throw new Error(`There is no slot ${slot}.`);
    const { job, env } = given;
    const seed = seedOf(job.seed, slot, ++this.#started);
    const worker = new WorkerProcess(this.#file, { ...job, seed }, env);
    this.#all.add(worker);
    void worker.exit.then((how) => {
      this.#all.delete(worker);
      this.#left(worker, how);
    });
    return worker;
  }
}
