import { vi } from 'vitest';
import { LeaseKeeper } from '../../src/sessions/lease-keeper.ts';
import type { Lease } from '../../src/sessions/lease.ts';
import type { SessionStore } from '../../src/sessions/session-store.ts';
import { memoryStore } from '../../src/sessions/stores/memory/index.ts';

const times = { leaseMs: 1_000, heartbeatMs: 300, signalMs: 100 };

type Faults = Partial<Pick<SessionStore, 'claim' | 'find' | 'release' | 'renew' | 'signals'>>;

export interface LeaseRig {
  readonly store: SessionStore;
  readonly keeper: LeaseKeeper;
  readonly faults: Faults;
  readonly asked: { readonly renew: number; readonly signals: number };
  /** Creates a session with a pending command. */
  open(id: string): Promise<void>;
  /** Creates a session and claims it. `reported` and `lost` record what its run receives. */
  hold(id: string): Promise<{ lease: Lease; reported: unknown[]; lost: unknown[] }>;
  /** Another worker claims the session as soon as its lease allows. */
  take(id: string): ReturnType<SessionStore['claim']>;
}

/** A lease keeper on a store with injected faults and counted calls. */
export function leaseRig(): LeaseRig {
  const store = memoryStore();
  const faults: Faults = {};
  const asked = { renew: 0, signals: 0 };
  const keeper = new LeaseKeeper(
    {
      ...store,
      claim: (...given) => (faults.claim ?? store.claim)(...given),
      find: (...given) => (faults.find ?? store.find)(...given),
      release: (...given) => (faults.release ?? store.release)(...given),
      renew: (...given) => {
        asked.renew += 1;
        return (faults.renew ?? store.renew)(...given);
      },
      signals: (...given) => {
        asked.signals += 1;
        return (faults.signals ?? store.signals)(...given);
      },
    },
    'w',
    times,
  );
  const open = async (id: string): Promise<void> => {
    const session = { id, owner: 'o', agent: 'x', status: 'pending', executionId: null } as const;
    const counts = { messageCount: 0, stepCount: 0 };
    await store.create({ ...session, ...counts, head: '{}', createdAt: '2026' });
    const command = { kind: 'message', executionId: 'e', body: '{}', at: '2026' } as const;
    await store.accept(id, command, { phases: ['idle'] });
  };
  const hold: LeaseRig['hold'] = async (id) => {
    await open(id);
    const lease = (await keeper.claim(id)) as Lease;
    const reported: unknown[] = [];
    const lost: unknown[] = [];
    lease.listen({
      signalled: ({ stopReason, pauseReason }) => reported.push([stopReason, pauseReason]),
      lost: (error) => lost.push((error as { code: string }).code),
      handOver: () => {},
    });
    return { lease, reported, lost };
  };
  const take: LeaseRig['take'] = (id) => store.claim(id, { worker: 'other', ttlMs: 60_000 });
  return { store, keeper, faults, asked, open, hold, take };
}

export const down = (): Promise<never> => Promise.reject(new Error('down'));
export const silent = (): Promise<never> => new Promise(() => {});
export const codeOf = (work: Promise<unknown> | undefined): Promise<unknown> =>
  Promise.resolve(work).then(
    () => 'proven',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );

/** Advances the timers while the work is pending. */
export async function advanced<T>(work: Promise<T> | undefined): Promise<T | undefined> {
  work?.catch(() => {});
  await vi.advanceTimersByTimeAsync(10_000);
  return work;
}
