import { between, pick, seededRandom, seedOf, shuffled } from './random.ts';

/**
 * `kill`: SIGKILL of a worker. `kill-all`: SIGKILL of all workers. `deploy`: a worker is asked to exit. `freeze`:
 * SIGSTOP for longer than the lease. `lost-reply`: a statement is executed and its answer lost. `silence`: connections
 * send nothing more. `cut`: connections break. `crash`: SIGKILL of the server and a restart. `lock`: another process
 * locks the file. `clock`: the wall clock of a worker jumps.
 */
export type FaultKind =
  | 'kill'
  | 'kill-all'
  | 'deploy'
  | 'freeze'
  | 'lost-reply'
  | 'silence'
  | 'cut'
  | 'crash'
  | 'lock'
  | 'clock';

export type StatementKind = 'claim' | 'commit' | 'renew' | 'accept' | 'decide';

/** Patterns that identify the statements of the store. */
export const statements: Readonly<Record<StatementKind, RegExp>> = {
  claim: /nextval\(/,
  commit: /with fenced as/,
  renew: /with held as/,
  accept: /open_to as/,
  decide: /answered as/,
};

export interface Fault {
  readonly kind: FaultKind;
  /** Milliseconds since the previous fault. */
  readonly afterMs: number;
  /** The slot of the affected worker. */
  readonly slot: number;
  /** Whether it waits until the worker runs a tool. */
  readonly isAimed: boolean;
  /** How long it lasts, or the new clock offset, in milliseconds. */
  readonly ms: number;
  /** The statement that loses its answer. */
  readonly statement: StatementKind;
  /** Whether the connection breaks with the lost answer or stays open and silent. */
  readonly effect: 'lose' | 'swallow';
}

/** Approximate percentages. */
const weights: Readonly<Record<FaultKind, number>> = {
  kill: 30,
  'lost-reply': 20,
  clock: 10,
  freeze: 10,
  lock: 10,
  deploy: 8,
  silence: 8,
  cut: 6,
  'kill-all': 5,
  crash: 3,
};
export const faultKinds: readonly FaultKind[] = Object.keys(weights) as FaultKind[]; // its keys

const needsServer: ReadonlySet<FaultKind> = new Set(['lost-reply', 'silence', 'cut', 'crash']);

/** The kinds that apply to a store. */
export const kindsFor = (store: 'sqlite' | 'postgres'): readonly FaultKind[] =>
  faultKinds.filter((kind) => (store === 'sqlite' ? !needsServer.has(kind) : kind !== 'lock'));

const HOUR_MS = 3_600_000;
const clocks: readonly number[] = [
  HOUR_MS,
  -HOUR_MS,
  24 * HOUR_MS,
  -24 * HOUR_MS,
  3_000,
  -3_000,
  0,
];

/** The faults of a campaign in order, the same for the same seed. Every kind occurs if the count allows. */
export function faultSchedule(
  seed: number,
  options: {
    readonly count: number;
    readonly kinds: readonly FaultKind[];
    readonly slots: number;
    readonly leaseMs: number;
  },
): readonly Fault[] {
  const { count, kinds, slots, leaseMs } = options;
  const random = seededRandom(seedOf(seed, 'faults'));
  const pot = kinds.flatMap((kind) => Array.from({ length: weights[kind] }, () => kind));
  const drawn = Array.from({ length: count }, () => pick(random, pot) ?? []).flat();
  const dealt = shuffled(random, [...kinds, ...drawn].slice(0, count));
  return dealt.map((kind) => ({
    kind,
    afterMs: Math.round(between(random, 20, 240)),
    slot: Math.floor(random() * slots),
    isAimed: random() < 0.5,
    ms:
      kind === 'clock'
        ? (pick(random, clocks) ?? 0)
        : Math.round(between(random, 1.1, 2.2) * leaseMs),
    statement: pick(random, Object.keys(statements) as StatementKind[]) ?? 'commit', // its keys
    effect: random() < 0.5 ? 'lose' : 'swallow',
  }));
}

/** Formats a fault as one line. */
export function describeFault({
  kind,
  afterMs,
  slot,
  isAimed,
  ms,
  statement,
  effect,
}: Fault): string {
  const at = `+${afterMs} ms ${kind}`;
  if (kind === 'kill-all') return at;
  if (kind === 'crash' || kind === 'lock') return `${at} for ${ms} ms`;
  if (kind === 'clock') return `${at} of worker ${slot} to ${ms / 1000} s`;
  if (kind === 'lost-reply') return `${at} to a ${statement} of worker ${slot} (${effect})`;
  if (kind === 'freeze') return `${at} of worker ${slot} for ${ms} ms`;
  return `${at} of worker ${slot}${isAimed && kind === 'kill' ? ' while it runs a tool' : ''}`;
}
