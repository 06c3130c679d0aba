/** What one agent has used among those that work behind the calls of an execution, however deep. */
export interface FamilyShare {
  /** Its name; agents of one name share an entry. */
  readonly agent: string;
  /** Answered steps. */
  readonly steps: number;
  readonly tokens: number;
  /** Null when the price is unknown. */
  readonly cost: number | null;
}

const noShares: readonly FamilyShare[] = Object.freeze([]);

/** Both lists as one, an entry for each agent. */
export const addShares = (
  a: readonly FamilyShare[] = noShares,
  b: readonly FamilyShare[] = noShares,
): readonly FamilyShare[] => (b.length === 0 ? a : merged(a, b, 1));

/** What `a` has beyond `b`; agents without anything are left out. */
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

/** The known part: nothing used is free, whatever its price. */
function knownCost(a: number | null, b: number | null, sign: 1 | -1): number | null {
  if (b === 0) return a;
  return b === null ? a || null : (a ?? 0) + sign * b;
}

export const stepsOfFamily = (shares: readonly FamilyShare[] = noShares): number =>
  shares.reduce((sum, { steps }) => sum + steps, 0);

/** One agent's part of what a limit has counted. */
export interface Spender {
  readonly agent: string;
  readonly amount: number;
}

/** Most that an explanation names. */
const MOST_NAMED = 3;

/** Who has used most, the largest first; what the smaller ones have used is one entry without a name. */
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

/** ", 2100 of them by researcher and 300 by writer"; nothing where no other agent has used any. */
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
  const last = parts.pop();
  return `, ${parts.length > 0 ? `${parts.join(', ')} and ` : ''}${last}`;
}
