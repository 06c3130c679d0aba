import { between, pick, seededRandom, seedOf, shuffled } from '../kill/random.ts';

/**
 * `kill`: SIGKILL of half of the workers, each replaced. `postgres`, `redis`: SIGKILL of the server and a restart. `bus`:
 * the connections of all processes to the bus break, and new ones are refused for a while.
 */
export type ScaleFaultKind = 'kill' | 'postgres' | 'redis' | 'bus';
export const scaleFaultKinds: readonly ScaleFaultKind[] = ['kill', 'bus', 'postgres', 'redis'];

export interface ScaleFault {
  readonly kind: ScaleFaultKind;
  /** Milliseconds since the previous fault. */
  readonly afterMs: number;
  /** How long it lasts, in milliseconds; for `kill`, how far apart the kills are. */
  readonly ms: number;
  /** The slots of the workers to kill. */
  readonly slots: readonly number[];
}

/** The faults of a campaign in order, the same for the same seed. Every kind occurs, and most of them are kills. */
export function scaleFaults(
  seed: number,
  options: {
    readonly count: number;
    readonly kinds: readonly ScaleFaultKind[];
    readonly workers: number;
    readonly leaseMs: number;
  },
): readonly ScaleFault[] {
  const { count, kinds, workers, leaseMs } = options;
  const random = seededRandom(seedOf(seed, 'scale faults'));
  const drawn = Array.from({ length: count }, () =>
    random() < 0.5 && kinds.includes('kill') ? 'kill' : (pick(random, kinds) ?? 'kill'),
  );
  const dealt = shuffled(random, [...kinds, ...drawn].slice(0, count));
  const slots = Array.from({ length: workers }, (_, i) => i);
  return dealt.map((kind, i) => ({
    kind,
    // the other half lives until it has taken over: a worker that starts later waits for a whole lease by itself
    afterMs: Math.round(
      (kind === 'kill' && i > 0 ? leaseMs + 2_000 : 0) + between(random, 0.3, 1.3) * leaseMs,
    ),
    ms: Math.round(between(random, 0.1, 0.6) * leaseMs),
    slots: shuffled(random, slots).slice(0, Math.floor(workers / 2)),
  }));
}

/** Formats a fault as one line. */
export const describeScaleFault = ({ kind, afterMs, ms, slots }: ScaleFault): string =>
  kind === 'kill'
    ? `+${afterMs} ms kill workers ${slots.join(' and ')}, ${ms} ms apart`
    : `+${afterMs} ms ${kind} is down for ${ms} ms`;
