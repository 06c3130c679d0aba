import { addShares, minusShares, type FamilyShare } from '../continuation/family-share.ts';
import { addCost, addUsage, minusUsage, zeroUsage, type Usage } from '../inference/usage.ts';
import type { AgentStateJSON } from './agent-state.ts';
import type { ChildAccount } from './agent-step.ts';

/** What agents have used, and who of them. */
export interface Spending {
  readonly usage: Usage;
  readonly cost: number | null;
  readonly shares: readonly FamilyShare[];
}

export const noSpending: Spending = Object.freeze({ usage: zeroUsage, cost: 0, shares: [] });

/** What counts of a nested agent; a state fits, and so does its JSON. */
type Spent = Pick<AgentStateJSON, 'agentName'> & {
  readonly execution: Pick<
    AgentStateJSON['execution'],
    'usage' | 'cost' | 'answeredSteps' | 'family'
  >;
};

/** All that an agent has used in its execution, itself and the agents behind its calls. */
export function spendingOf({ agentName, execution }: Spent): Spending {
  const { usage, cost, answeredSteps, family = [] } = execution;
  let tokens = usage.total;
  let rest = cost;
  for (const share of family) {
    tokens -= share.tokens;
    if (rest !== null) rest -= share.cost ?? 0;
  }
  const itself = { agent: agentName ?? '', steps: answeredSteps, tokens, cost: rest };
  const isIdle = answeredSteps === 0 && tokens === 0;
  return { usage, cost, shares: addShares(isIdle ? [] : [itself], family) };
}

export const addSpending = (a: Spending, b: Spending): Spending => ({
  usage: addUsage(a.usage, b.usage),
  cost: addCost(a.cost, b.cost),
  shares: addShares(a.shares, b.shares),
});

/** What was used since an account was kept; an account without shares booked none. */
export const since = (
  { usage, cost, shares }: Spending,
  before: ChildAccount | Spending | null,
): Spending =>
  before === null
    ? { usage, cost, shares }
    : {
        usage: minusUsage(usage, before.usage),
        cost: cost === null ? null : cost - (before.cost ?? 0),
        shares: minusShares(shares, before.shares),
      };
