import { describe, expect, it } from 'vitest';
import { usageOf } from '../inference/usage.ts';
import { AgentState, type AgentStateJSON } from './agent-state.ts';
import type { Execution } from './execution.ts';
import { openSteps, since, spendingOf, unbooked } from './family-shares.ts';

const share = (agent: string, steps: number, tokens: number, cost: number | null = null) => ({
  agent,
  steps,
  tokens,
  cost,
});

const agent = (agentName: string, used: Partial<Execution>): AgentStateJSON => {
  const json = AgentState.empty().toJSON();
  return { ...json, agentName, execution: { ...json.execution, ...used } };
};

describe('the usage of an agent', () => {
  it('lists the agent and its nested agents by name', () => {
    const family = [share('inner', 3, 300, 0.25), share('helper', 1, 50, 0.25)];
    const used = { usage: usageOf({ input: 500 }), cost: 1, answeredSteps: 2, family };
    expect(spendingOf(agent('helper', used))).toEqual({
      usage: used.usage,
      cost: 1,
      shares: [share('helper', 3, 200, 0.75), share('inner', 3, 300, 0.25)],
    });
  });

  it('is empty without a model call', () => {
    expect(spendingOf(agent('helper', {})).shares).toEqual([]);
  });

  it('keeps all shares after an account of a release without shares', () => {
    const now = spendingOf(agent('helper', { usage: usageOf({ input: 500 }), answeredSteps: 2 }));
    const before = { usage: usageOf({ input: 200 }), cost: null };
    expect(since(now, before)).toMatchObject({
      usage: { total: 300 },
      shares: [share('helper', 2, 500, 0)],
    });
  });

  it('of paused nested agents is what no account has, at any depth, with their open steps', () => {
    const inner = agent('inner', { usage: usageOf({ input: 70 }), answeredSteps: 1 });
    const waiting = {
      children: { c2: inner },
      childAccounts: { c2: { usage: usageOf({}), cost: 0 } },
    };
    const outer: Parameters<typeof unbooked>[0] = [
      [
        'c1',
        {
          ...agent('outer', { usage: usageOf({ input: 30 }), answeredSteps: 4 }),
          unfinishedStep: waiting,
        },
      ],
    ];
    // the outer agent is fully counted, the inner one not at all
    expect(unbooked(outer)).toMatchObject({
      usage: { total: 70 },
      shares: [share('inner', 1, 70, 0)],
    });
    const accounts = new Map([['c1', { usage: usageOf({ input: 10 }), cost: 0, shares: [] }]]);
    expect(unbooked(outer, accounts)).toMatchObject({
      usage: { total: 90 },
      shares: [share('outer', 4, 30, 0), share('inner', 1, 70, 0)],
    });
    expect(openSteps(outer)).toBe(1);
  });
});
