import { between, pick, seededRandom, seedOf, shuffled } from './random.ts';

/**
 * `kill`: SIGKILL of a worker. `kill-all`: of all. `deploy`: a worker is asked to leave. `freeze`: SIGSTOP for longer than
 * the lease. `lost-reply`: a statement is carried out, and its answer lost. `silence`: connections say nothing more.
 * `cut`: they break. `crash`: SIGKILL of the server and a restart. `lock`: another process locks the file. `clock`: the
 * wall clock of a worker jumps.
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

/** How the store's SQL gives away what a statement does. */
export const statements: Readonly<Record<StatementKind, RegExp>> = {
  claim: /nextval\(/,
  commit: /with fenced as/,
  renew: /with held as/,
  accept: /open_to as/,
  decide: /answered as/,
};

export interface Fault {
  readonly kind: FaultKind;
  /** Since the fault before. */
  readonly afterMs: number;
  /** The place of the worker that it meets. */
  readonly slot: number;
  /** Waits for a moment in which the worker runs a tool. */
  readonly isAimed: boolean;
  /** How long it lasts, or how far the clock is from the right time then. */
  readonly ms: number;
  /** Which one loses its answer. */
  readonly statement: StatementKind;
  /** Whether the connection breaks with the lost answer, or stays and is silent. */
  readonly effect: 'lose' | 'swallow';
}

/** How many of a hundred, about. */
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

/** Those that make sense for a store. */
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

/** What is done to a campaign, in this order: the same for the same seed. Every kind occurs if there is room. */
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

/** A fault in one line, for people. */
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
