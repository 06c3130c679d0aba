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
/** How long a slow machine may take beyond a lease. Tests shift clocks by hours. */
export const SLACK_MS = 12_000;

/** The state of leases after a clock was set. */
export interface LeaseReport {
  /** Whether a worker that renews its lease still holds its session and can prove it. */
  readonly isKept: boolean;
  /** Time from the last renewal of a dead worker until another worker had its session. Infinite if not in time. */
  readonly diedFor: number;
  /** The same for a process that started after the clock was set, from then on. */
  readonly lateFor: number;
  /** Time until a failed try that waits for its retry could be claimed. */
  readonly waitedFor: number;
}

const all = { agents: ['support'], limit: 1_000 } as const;

/** Polls for the session as a runtime does, until it is claimed. */
async function taken(
  store: SessionStore,
  id: string,
  since: number,
  mostMs: number = LEASE_MS + SLACK_MS,
): Promise<number> {
  while (performance.now() - since < mostMs) {
    await store.urgent(all);
    const lease = { worker: 'other', ttlMs: 60_000, alone: true };
    if (await store.claim(id, lease)) return performance.now() - since;
    await wait(SWEEP_MS);
  }
  return Number.POSITIVE_INFINITY;
}

/** Holds leases of every kind, sets a clock and reports on the leases. `later` opens its store after that. */
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
  lease.listen({ signalled: () => {}, handOver: () => {}, lost: () => (isLost = true) });
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
    taken(others, alive.id, jumped, LEASE_MS + 2_000),
    taken(others, dead.id, died),
    taken(later(), left.id, jumped),
    taken(others, failed.id, jumped),
  ]);
  await lease.confirm()?.catch(() => {});
  const isKept = aliveFor === Number.POSITIVE_INFINITY && !isLost && lease.isLeaseValid;
  await keeper.release(lease);
  return { isKept, diedFor, lateFor, waitedFor };
}
