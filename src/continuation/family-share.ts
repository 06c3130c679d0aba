import { listText } from '../sentence.ts';

/** Usage of one nested agent of an execution, at any depth. */
export interface FamilyShare {
  /** Name of the agent; agents with the same name share an entry. */
  readonly agent: string;
  /** Answered steps. */
  readonly steps: number;
  readonly tokens: number;
  /** Null if the price is unknown. */
  readonly cost: number | null;
}

const noShares: readonly FamilyShare[] = Object.freeze([]);

/** Adds two lists, with one entry for each agent. */
export const addShares = (
  a: readonly FamilyShare[] = noShares,
  b: readonly FamilyShare[] = noShares,
): readonly FamilyShare[] => (b.length === 0 ? a : merged(a, b, 1));

/** Subtracts `b` from `a` and leaves out agents without usage. */
export const minusShares = (
  a: readonly FamilyShare[] = noShares,
  b: readonly FamilyShare[] = noShares,
): readonly FamilyShare[] =>
  b.length === 0
    ? a
    : merged(a, b, -1).filter(({ steps, tokens, cost }) => steps > 0 || tokens > 0 || cost);

function merged(
  a: readonly FamilyShare[],
  b: readonly FamilyShare[],
  sign: 1 | -1,
): readonly FamilyShare[] {
  const byAgent = new Map(a.map((share) => [share.agent, share]));
  for (const { agent, steps, tokens, cost } of b) {
    const before = byAgent.get(agent);
    byAgent.set(agent, {
      agent,
      steps: (before?.steps ?? 0) + sign * steps,
      tokens: (before?.tokens ?? 0) + sign * tokens,
      cost: before === undefined ? cost : knownCost(before.cost, cost, sign),
    });
  }
  return [...byAgent.values()];
}

/** Sums the known costs. A cost of 0 adds nothing, and an unknown cost leaves the known part. */
function knownCost(a: number | null, b: number | null, sign: 1 | -1): number | null {
  if (b === 0) return a;
  return b === null ? a || null : (a ?? 0) + sign * b;
}

export const stepsOfFamily = (shares: readonly FamilyShare[] = noShares): number =>
  shares.reduce((sum, { steps }) => sum + steps, 0);

/** Part of a limit that one nested agent used. */
export interface Spender {
  readonly agent: string;
  readonly amount: number;
}

/** Most agents that an explanation names. */
const MOST_NAMED = 3;

/** Lists the agents that used the most, largest first, and sums the rest in one entry without a name. */
export function spendersOf(
  shares: readonly FamilyShare[] | undefined = noShares,
  amountOf: (share: FamilyShare) => number | null,
): readonly Spender[] {
  const all = shares
    .map((share) => ({ agent: share.agent, amount: amountOf(share) ?? 0 }))
    .filter(({ agent, amount }) => amount > 0 && agent !== '')
    .toSorted((a, b) => b.amount - a.amount);
  if (all.length <= MOST_NAMED) return all;
  const rest = all.slice(MOST_NAMED).reduce((sum, { amount }) => sum + amount, 0);
  return [...all.slice(0, MOST_NAMED), { agent: '', amount: rest }];
}

/** Writes ", 2100 of them by researcher and 300 by writer"; empty without spenders. */
export function spentBy(
  spenders: readonly Spender[],
  amountText: (amount: number) => string,
  ofWhat: 'of them' | 'of it' = 'of them',
): string {
  if (spenders.length === 0) return '';
  const parts = spenders.map(
    ({ agent, amount }, i) =>
      `${amountText(amount)}${i === 0 ? ` ${ofWhat}` : ''} by ${agent === '' ? 'others' : agent}`,
  );
  return `, ${listText(parts)}`;
}
