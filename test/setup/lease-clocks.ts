import { setTimeout as wait } from 'node:timers/promises';
import { LeaseKeeper } from '../../src/sessions/lease-keeper.ts';
import type { SessionStore } from '../../src/sessions/session-store.ts';
import { makeHarness } from '../../src/testing/store-contract/store-harness.ts';

export const HOUR = 3_600_000;
export const jumps: readonly number[] = [-24 * HOUR, -HOUR, HOUR, 24 * HOUR];

export const LEASE_MS = 1_200;
const times = { leaseMs: LEASE_MS, heartbeatMs: 250, signalMs: 250 };
const SWEEP_MS = 200;
const WAIT_MS = 600;

/** What two processes hold and take while a clock is set. */
export interface LeaseReport {
  /** Of a worker that beats: whether it still has its session, and can prove it. */
  readonly isKept: boolean;
  /** Of one that died: when another had its session, since its last beat. Infinite if not in time. */
  readonly diedFor: number;
  /** The same of a process that began only after the clock was set, since then. */
  readonly lateFor: number;
  /** Of a try that failed and is left alone for a while: when it could be claimed. */
  readonly waitedFor: number;
}

const all = { agents: ['support'], limit: 1_000 } as const;

/** Looks for the session as a runtime does, until it has it. */
async function taken(store: SessionStore, id: string, since: number): Promise<number> {
  while (performance.now() - since < LEASE_MS + 4_000) {
    await store.urgent(all);
    const lease = { worker: 'other', ttlMs: 60_000, alone: true };
    if (await store.claim(id, lease)) return performance.now() - since;
    await wait(SWEEP_MS);
  }
  return Number.POSITIVE_INFINITY;
}

/** Holds leases of every kind, sets a clock, and says what became of them. `later` is made after that. */
export async function leasesUnder(
  [mine, others, later]: readonly [SessionStore, SessionStore, () => SessionStore],
  setClock: () => void | Promise<void>,
): Promise<LeaseReport> {
  const harness = makeHarness(mine, 60);
  const alive = await harness.open();
  const failed = await harness.held();
  await mine.release(failed.id, failed.token, {
    kind: 'retry',
    error: 'no tenant',
    waitMs: WAIT_MS,
  });
  const keeper = new LeaseKeeper(mine, 'me', times);
  const lease = await keeper.claim(alive.id);
  if (!lease) throw new Error('The session could not be claimed.');
  let isLost = false;
  lease.listen({ signalled: () => {}, lost: () => (isLost = true) });
  const [dead, left] = [
    await harness.held({ ttlMs: LEASE_MS }),
    await harness.held({ ttlMs: LEASE_MS }),
  ] as const;
  const died = performance.now();
  await others.urgent(all);
  await wait(SWEEP_MS);
  await others.urgent(all);

  await setClock();
  const jumped = performance.now();
  const [aliveFor, diedFor, lateFor, waitedFor] = await Promise.all([
    taken(others, alive.id, jumped - 2_000),
    taken(others, dead.id, died),
    taken(later(), left.id, jumped),
    taken(others, failed.id, jumped),
  ]);
  await keeper.confirm(lease)?.catch(() => {});
  const isKept = aliveFor === Number.POSITIVE_INFINITY && !isLost && lease.isLeaseValid;
  await keeper.release(lease);
  return { isKept, diedFor, lateFor, waitedFor };
}
