import type { LimitFacts } from './facts.ts';
import { isAnswered, type RunView, type StepView } from './run-view.ts';

/** Steps that are looked at for the largest one: the newest, so that long runs cost no more. */
const MOST_STEPS = 1_000;
/** The next step may be larger than the largest so far. */
const MARGIN = 1.5;

/** Assumed for one step before any has been answered. */
const firstStep: Readonly<Partial<Record<LimitFacts['unit'], number>>> = {
  tokens: 2_000,
  seconds: 30,
};

const amountOf: Readonly<Record<LimitFacts['unit'], (step: StepView) => number>> = {
  steps: () => 0,
  repeats: () => 0,
  tokens: ({ usage }) => usage?.total ?? 0,
  cost: ({ cost }) => cost ?? 0,
  seconds: ({ durationMs }) => (durationMs ?? 0) / 1000,
};

/** The smallest grant that pays for one more step: what is owed, a step with a margin, and the reserve of a landing. */
export function smallestGrant(
  unit: LimitFacts['unit'],
  owed: number,
  reserve: number,
  state: RunView,
): number {
  if (unit === 'steps') return Math.ceil(owed) + 1 + reserve;
  return rounded(unit, owed + stepAmount(unit, state) + reserve);
}

function stepAmount(unit: LimitFacts['unit'], state: RunView): number {
  let largest = 0;
  let hasAnswer = false;
  for (let i = 1; i <= MOST_STEPS; i++) {
    const step = state.steps.at(-i);
    if (step === undefined || step.executionId !== state.execution.id) break;
    largest = Math.max(largest, amountOf[unit](step));
    hasAnswer ||= isAnswered(step);
  }
  return Math.max(largest * MARGIN, hasAnswer && largest > 0 ? 0 : (firstStep[unit] ?? 0));
}

/** As much again as was configured, and what is owed. */
export const sameAgain = ({ unit, base, owed = 0 }: LimitFacts): number =>
  rounded(unit, base + owed);

/** Money to a millionth, everything else in whole numbers; never below the amount. */
function rounded(unit: LimitFacts['unit'], amount: number): number {
  return unit === 'cost' ? Math.ceil(amount * 1e6 - 1e-3) / 1e6 : Math.ceil(amount - 1e-6);
}
