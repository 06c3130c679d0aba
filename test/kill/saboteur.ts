import { lockProcess } from '../setup/lock-process.ts';
import type { ShiftedWall } from '../setup/fake-time.ts';
import type { PostgresProxy } from '../setup/postgres-proxy.ts';
import type { TestPostgres } from '../setup/postgres.ts';
import { effectsFrom, sizeOfLog } from './effect-log.ts';
import { statements, type Fault, type FaultKind } from './fault-schedule.ts';
import { sleep } from './random.ts';
import type { WorkerSlots } from './worker-slots.ts';

export interface Targets {
  readonly slots: WorkerSlots;
  readonly log: string;
  /** By slot. Empty without a server. */
  readonly proxies: readonly PostgresProxy[];
  /** By slot. Empty if clocks do not jump. */
  readonly clocks: readonly ShiftedWall[];
  readonly server: TestPostgres | null;
  /** The SQLite file. */
  readonly file: string | null;
}

/** How long a fault waits for its worker to start. */
const PATIENCE_MS = 2_000;

/** Applies a schedule, one fault after another. */
export class Saboteur {
  /** Faults applied, by kind. */
  readonly done: Partial<Record<FaultKind, number>> = {};
  readonly #targets: Targets;
  /** Faults that are still in effect. */
  readonly #lasting: Set<Promise<unknown>> = new Set();

  constructor(targets: Targets) {
    this.#targets = targets;
  }

  async carryOut(schedule: readonly Fault[]): Promise<void> {
    for (const fault of schedule) {
      await sleep(fault.afterMs);
      await this.#meet(fault);
    }
    await Promise.all(this.#lasting);
    for (const proxy of this.#targets.proxies) proxy.disarm();
  }

  #did(kind: FaultKind): void {
    this.done[kind] = (this.done[kind] ?? 0) + 1;
  }

  #lasts(work: Promise<unknown>): void {
    const lasting = work.finally(() => this.#lasting.delete(lasting));
    this.#lasting.add(lasting);
  }

  async #meet(fault: Fault): Promise<void> {
    const { slots, proxies, clocks, server, file } = this.#targets;
    const { kind, slot, ms } = fault;
    if (kind === 'kill-all') return slots.indexes.forEach((each) => this.#kill(each, kind));
    if (kind === 'lock') {
      if (file !== null) this.#lasts(this.#lock(file, ms));
      return;
    }
    if (kind === 'crash') {
      if (!server?.kill) return;
      await server.kill();
      await sleep(ms / 2);
      await server.restart();
      return this.#did(kind);
    }
    const worker = await this.#up(slot);
    if (!worker) return;
    if (kind === 'kill') {
      const busy = fault.isAimed ? await this.#busy(slot) : true;
      return busy ? this.#kill(slot, kind) : undefined;
    }
    if (kind === 'deploy') {
      void worker.ask({ do: 'close' });
      slots.replace(slot);
    } else if (kind === 'freeze') this.#lasts(worker.freeze(ms));
    else if (kind === 'silence') proxies[slot]?.silenceAll();
    else if (kind === 'cut') proxies[slot]?.cutAll();
    else if (kind === 'clock') clocks[slot]?.jump(ms - clocks[slot].offsetMs);
    else if (kind === 'lost-reply') {
      const { effect, statement } = fault;
      return proxies[slot]?.arm({ effect, on: statements[statement], met: () => this.#did(kind) });
    }
    this.#did(kind);
  }

  async #up(slot: number): Promise<ReturnType<WorkerSlots['at']>> {
    const until = performance.now() + PATIENCE_MS;
    while (!this.#targets.slots.at(slot) && performance.now() < until) await sleep(10);
    return this.#targets.slots.at(slot);
  }

  /** Waits until the worker starts a tool. False after a timeout. */
  async #busy(slot: number): Promise<boolean> {
    const { log, slots } = this.#targets;
    const place = await sizeOfLog(log);
    for (let tries = 0; tries < 30; tries++) {
      await sleep(3);
      const pid = slots.at(slot)?.pid;
      const effects = await effectsFrom(log, place);
      if (effects.some((effect) => effect.kind === 'begin' && effect.pid === pid)) return true;
    }
    return slots.at(slot) !== undefined;
  }

  #kill(slot: number, kind: FaultKind): void {
    const worker = this.#targets.slots.at(slot);
    if (!worker) return;
    this.#did(kind);
    this.#targets.slots.replace(slot);
    void worker.kill();
  }

  async #lock(file: string, ms: number): Promise<void> {
    const lock = await lockProcess(file, 'begin immediate');
    await sleep(ms);
    await lock.release();
    this.#did('lock');
  }
}
