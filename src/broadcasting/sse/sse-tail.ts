import type { Clock } from '../../clock.ts';
import { AgentError } from '../../errors/agent-error.ts';
import type { SseLog } from './sse-reader.ts';
import type { SseSession } from './sse-session.ts';

/** How often the log is looked at, for work that another process does. */
export interface SseTailTimes {
  /** While somebody else works on the session. */
  readonly busyMs: number;
  /** While nobody does, or this process. */
  readonly idleMs: number;
}

/** Looks at the log of one session for all its readers: what another process does reaches nobody by itself. */
export class SseTail {
  readonly #session: SseSession;
  readonly #log: SseLog;
  readonly #clock: Clock;
  readonly #times: SseTailTimes;
  readonly #failed: (error: unknown) => void;
  #cancel: (() => void) | null = null;
  #isLooking = false;
  #isStopped = false;

  constructor(
    session: SseSession,
    log: SseLog,
    options: {
      readonly clock: Clock;
      readonly times: SseTailTimes;
      readonly failed: (error: unknown) => void;
    },
  ) {
    this.#session = session;
    this.#log = log;
    this.#clock = options.clock;
    this.#times = options.times;
    this.#failed = options.failed;
    this.#plan();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  /** Looks now. */
  wake(): void {
    if (this.#isLooking || this.#isStopped) return;
    this.#cancel?.();
    void this.#poll();
  }

  #plan(): void {
    const { isBusy, isLocal } = this.#session;
    const ms = isBusy && !isLocal ? this.#times.busyMs : this.#times.idleMs;
    this.#cancel = this.#clock.after(ms, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    this.#isLooking = true;
    try {
      while (await this.#page());
    } catch (error) {
      if (AgentError.is(error, 'session_not_found')) this.#session.end();
      else this.#failed(error);
    } finally {
      this.#isLooking = false;
      if (!this.#isStopped) this.#plan();
    }
  }

  /** True if there is more. */
  async #page(): Promise<boolean> {
    const session = this.#session;
    // readers that have not come to the end of the log read it themselves
    if (!session.isReached) return false;
    const { executionId, seq: after } = session;
    let refill = await this.#log({ after });
    const isNew = refill.execution_id !== executionId;
    if (isNew && after > 0) refill = await this.#log({ after: 0 });
    if (this.#isStopped || refill.execution_id === null) return false;
    for (const envelope of refill.envelopes) session.publish(envelope, false);
    session.flush();
    session.advance({ ...refill, envelopes: [] });
    return refill.more;
  }
}
