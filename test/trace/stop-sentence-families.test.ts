import { AgentBuilder, type AgentState } from 'onward';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { asTool, listening, member, Meter, type Spoken } from '../setup/families.ts';
import { stopSentence } from '../../src/trace/index.ts';
import { sentence } from './sentences.ts';

const look = mockTool('look', 'seen');
const works = (): Spoken => ({ call: 'look', text: 'So far.', tokens: 700, cost: 0.25 });
const asks = (): Spoken => ({ call: 'research', tokens: 300, cost: 0.1 });

const run = (limit: (b: AgentBuilder) => AgentBuilder): Promise<AgentState> => {
  const meter = new Meter();
  const researcher = member('researcher', meter, works, look).build();
  return limit(member('support', meter, asks, asTool(researcher, 'research')))
    .build()
    .run('go');
};

describe('the stop sentence names the agent that used the budget', () => {
  it.each<[string, (b: AgentBuilder) => AgentBuilder, string]>([
    [
      'tokens',
      (b) => b.withMaxTokens(2400),
      'Stopped because it used 2,400 of 2,400 tokens, 2,100 of them by researcher. To continue, add 3,600 tokens.',
    ],
    [
      'cost',
      (b) => b.withMaxCost(0.5),
      'Stopped because it spent $0.60 of $0.50, $0.50 of it by researcher. To continue, add $1.00.',
    ],
    [
      'steps',
      (b) => b.withMaxFamilySteps(4),
      'Stopped because it and its agents used 4 of 4 steps, 3 of them by researcher, before the model read a tool result. To continue, add 4 steps.',
    ],
  ])('%s', async (_case, limit, expected) => {
    expect(sentence(await run(limit)).text).toBe(expected);
  });

  it('of a nested agent names the agent whose limit it was, without a grant', async () => {
    const meter = new Meter();
    const received = listening();
    const researcher = member('researcher', meter, works, look).build();
    const support = member('support', meter, asks, asTool(researcher, 'research'))
      .withMaxTokens(2400)
      .build();
    let outcome: AgentState['lastContinuationOutcome'] = null;
    await support.run('go', {
      wiretap: (event) => {
        received.wiretap(event);
        if (event.type === 'AgentFinished' && event.parentAgentId !== null) outcome = event.outcome;
      },
    });
    expect(stopSentence({ status: 'stopped', outcome })).toMatchObject({
      because: 'support and its agents used 2,400 of 2,400 tokens, 2,100 of them by researcher',
      action: null,
      explanation: {
        actions: [{ kind: 'change', text: 'To continue, raise the limit of support.' }],
      },
    });
    expect(
      (outcome as AgentState['lastContinuationOutcome'])?.explain().split('\n').slice(0, 2),
    ).toEqual([
      'Stopped (token_limit) by TokenUsageLimit: the limit of "support" for all its agents: 2400 of 2400 tokens used while work is still pending, 2100 of them by researcher.',
      'To continue: grant more tokens to "support", or raise the limit of "support" with withMaxTokens(...).',
    ]);
  });

  it('ignores invalid spenders in a record', () => {
    const context = {
      used: 5,
      limit: 5,
      spenders: [null, { agent: 'a' }, { agent: 'b', amount: 2 }],
    };
    const evaluation = {
      criterion: 'TokenUsageLimit',
      decision: 'forbid' as const,
      reason: '5 of 5 tokens used',
      stopReason: 'token_limit' as const,
      context,
    };
    const outcome = {
      decision: 'forbid' as const,
      shouldContinue: false,
      resolvedBy: 'TokenUsageLimit',
      stopReason: 'token_limit' as const,
      evaluations: [evaluation],
    };
    expect(stopSentence({ status: 'stopped', outcome })?.because).toBe(
      'it used 5 of 5 tokens, 2 of them by b',
    );
  });
});
