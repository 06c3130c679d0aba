import type { LimitFacts } from './facts.ts';
import { isAnswered, type RunView, type StepView } from './run-view.ts';

/** Number of newest steps searched for the largest one, so that long runs cost no more. */
const MOST_STEPS = 1_000;
/** Factor for the next step, which may be larger than the largest so far. */
const MARGIN = 1.5;

/** Amount assumed for one step before the first answer. */
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

/** Computes the smallest grant that allows one more step: amount owed, a step with margin, and the landing reserve. */
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

/** Computes a grant of the configured limit plus the amount owed. */
export const sameAgain = ({ unit, base, owed = 0 }: LimitFacts): number =>
  rounded(unit, base + owed);

/** Rounds up: cost to a millionth, all other units to a whole number. */
function rounded(unit: LimitFacts['unit'], amount: number): number {
  return unit === 'cost' ? Math.ceil(amount * 1e6 - 1e-3) / 1e6 : Math.ceil(amount - 1e-6);
}
