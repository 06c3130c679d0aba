import * as fc from 'fast-check';
import type { GrantCaps } from '../../src/continuation/grant-allowance.ts';

/** Errors of the provider. Those with a wait repeat until it is over. */
export const refusals = {
  server: { type: 'model', retryable: true },
  refusal: { type: 'model', retryable: false },
  auth: { type: 'model', retryable: false },
  context_length: { type: 'model', retryable: false },
  quota: { type: 'rate_limit', retryable: false },
  busy: { type: 'rate_limit', code: 'rate_limit', retryable: true, waitMs: 60_000 },
  down: { type: 'rate_limit', code: 'overloaded', retryable: true, waitMs: 60_000 },
  reset: { type: 'rate_limit', code: 'quota', retryable: false, waitMs: 3_600_000 },
} as const;
export type Refusal = keyof typeof refusals;
export const isRefusal = (move: string): move is Refusal => Object.hasOwn(refusals, move);

const plainMoves = [
  'search',
  'same',
  'fail',
  'pay',
  'ask',
  'pause',
  'stop',
  'abort',
  'hold',
  'research',
  'ask_clerk',
  'answer',
  'length',
  'content_filter',
] as const;
export type Move = (typeof plainMoves)[number] | Refusal;
const moves: readonly Move[] = [...plainMoves, ...(Object.keys(refusals) as Refusal[])];

export interface Plan {
  readonly moves: readonly Move[];
  readonly tokens: number;
  readonly cost: number;
  readonly seconds: number;
  readonly maxSteps: number;
  readonly maxFamilySteps: number | null;
  readonly maxTokens: number | null;
  readonly maxCost: number | null;
  readonly timeout: number | null;
  readonly isCumulative: boolean;
  readonly softLanding: boolean;
  readonly retries: number | null;
  readonly sessionSteps: number | null;
  readonly sessionTokens: number | null;
  readonly sessionCost: number | null;
  readonly sessionSeconds: number | null;
  readonly repeats: number | null;
  /** Moves of a fallback model; null without one. */
  readonly fallback: readonly Move[] | null;
  /** Milliseconds that the tool `pay` works after its approval, with timers. */
  readonly payMs: number;
  readonly onError: 'stop' | 'retry' | 'ignore' | null;
  readonly toolRetries: number | null;
  readonly rule: Rule | null;
  readonly guard: Guarded | null;
}

/** A guard that objects until the user has rephrased the message, or the operator has fixed it. */
export interface Guarded {
  readonly at: 'input' | 'output' | 'tools';
  readonly does: 'block' | 'throw';
}

/** A criterion of the user that forbids from an answered step of each execution on. */
export interface Rule {
  readonly does: 'forbid' | 'grant' | 'remedy' | 'throw' | 'nonsense' | 'request';
  readonly after: number;
  readonly isLimit: boolean;
}

const orNone = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.option(arbitrary, { nil: null, freq: 2 });
/** A value in one of four runs, otherwise null. */
const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
const money = (most: number): fc.Arbitrary<number> =>
  fc.integer({ min: 1, max: most }).map((cents) => cents / 100);

export const plan: fc.Arbitrary<Plan> = fc.record({
  moves: fc.array(fc.constantFrom(...moves), { minLength: 1, maxLength: 6 }),
  tokens: fc.integer({ min: 0, max: 900 }),
  cost: fc.integer({ min: 0, max: 30 }).map((cents) => cents / 100),
  seconds: fc.integer({ min: 0, max: 12 }),
  maxSteps: fc.integer({ min: 1, max: 5 }),
  maxFamilySteps: rarely(fc.integer({ min: 2, max: 8 })),
  maxTokens: orNone(fc.integer({ min: 1, max: 2_500 })),
  maxCost: orNone(money(60)),
  timeout: orNone(fc.integer({ min: 1, max: 40 })),
  isCumulative: fc.boolean(),
  softLanding: fc.boolean(),
  retries: orNone(fc.integer({ min: 0, max: 2 })),
  sessionSteps: rarely(fc.integer({ min: 1, max: 6 })),
  sessionTokens: rarely(fc.integer({ min: 1, max: 4_000 })),
  sessionCost: rarely(money(90)),
  sessionSeconds: rarely(fc.integer({ min: 1, max: 60 })),
  repeats: orNone(fc.integer({ min: 2, max: 3 })),
  fallback: rarely(fc.array(fc.constantFrom(...moves), { minLength: 1, maxLength: 3 })),
  payMs: fc.oneof(fc.constant(0), fc.integer({ min: 1_000, max: 60_000 })),
  onError: rarely(fc.constantFrom('stop', 'retry', 'ignore')),
  toolRetries: rarely(fc.integer({ min: 0, max: 2 })),
  rule: rarely(
    fc.record({
      does: fc.constantFrom('forbid', 'grant', 'remedy', 'throw', 'nonsense', 'request'),
      after: fc.integer({ min: 1, max: 3 }),
      isLimit: fc.boolean(),
    }),
  ),
  guard: rarely(
    fc.record({
      at: fc.constantFrom('input', 'output', 'tools'),
      does: fc.constantFrom('block', 'throw'),
    }),
  ),
});

/** Random grant caps for owners. */
export const ownerCaps: fc.Arbitrary<GrantCaps> = fc.record({
  steps: fc.integer({ min: 0, max: 4 }),
  tokens: fc.integer({ min: 0, max: 3_000 }),
  cost: fc.integer({ min: 0, max: 50 }).map((cents) => cents / 100),
  seconds: fc.integer({ min: 0, max: 60 }),
  retries: fc.integer({ min: 0, max: 2 }),
});
