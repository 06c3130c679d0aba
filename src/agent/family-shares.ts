import { addShares, minusShares, type FamilyShare } from '../continuation/family-share.ts';
import {
  addCost,
  addUsage,
  minusUsage,
  usageOf,
  zeroUsage,
  type Usage,
} from '../inference/usage.ts';
import type { AgentStateJSON } from './agent-state.ts';
import type { ChildAccount, UnfinishedStep } from './agent-step.ts';
import type { Execution } from './execution.ts';

/** Usage of agents, in total and by agent. */
export interface Spending {
  readonly usage: Usage;
  readonly cost: number | null;
  readonly shares: readonly FamilyShare[];
}

export const noSpending: Spending = Object.freeze({ usage: zeroUsage, cost: 0, shares: [] });

/** The parts of a nested agent's state that count. Matches a state and its JSON. */
type Spent = Pick<AgentStateJSON, 'agentName'> & {
  /** Partial, because the earliest documents omitted fields. */
  readonly execution: Partial<Pick<Execution, 'usage' | 'cost' | 'answeredSteps' | 'family'>>;
};

/** A state with its paused nested agents. */
type Open = Spent & {
  readonly unfinishedStep: Pick<UnfinishedStep, 'children' | 'childAccounts'> | null;
};
type Children = Iterable<readonly [callId: string, child: Open]>;

/** Usage of an agent and its nested agents in its execution. */
export function spendingOf({ agentName, execution }: Spent): Spending {
  const { cost = null, answeredSteps = 0, family = [] } = execution;
  const usage = usageOf(execution.usage);
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

/** Usage since an earlier account. An account without shares subtracts no shares. */
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

/** Usage of paused nested agents that no parent has counted, because the process died before. */
export function unbooked(
  children: Children,
  accounts: ReadonlyMap<string, ChildAccount> | null = null,
): Spending {
  let sum = noSpending;
  for (const [id, child] of children) {
    const own = spendingOf(child);
    const inside = unbooked(childrenOf(child), accountsOf(child));
    sum = addSpending(sum, addSpending(since(own, accounts?.get(id) ?? own), inside));
  }
  return sum;
}

/** Answered steps of paused nested agents, which are counted only when they end. */
export function openSteps(children: Children): number {
  let steps = 0;
  for (const [, child] of children)
    if (child.unfinishedStep) steps += 1 + openSteps(childrenOf(child));
  return steps;
}

const childrenOf = ({ unfinishedStep }: Open): Children =>
  Object.entries(unfinishedStep?.children ?? {});

const accountsOf = ({ unfinishedStep }: Open): ReadonlyMap<string, ChildAccount> =>
  new Map(Object.entries(unfinishedStep?.childAccounts ?? {}));
