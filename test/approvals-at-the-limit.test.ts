import {
  AgentBuilder,
  explainState,
  sessionCostLimit,
  sessionStepsLimit,
  sessionTimeLimit,
  sessionTokenUsageLimit,
  type AgentState,
} from 'onward';
import { DeterministicDriver, fakeClock, ScenarioStep, type FakeClock } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { approve, gated, kinds } from './setup/approvals.ts';

const { toolCall, final } = ScenarioStep;
const price = { usage: { input: 1_000, output: 0 }, cost: 1 } as const;

type Limit = (builder: AgentBuilder) => AgentBuilder;
/** Limits that the waiting step exhausts. */
const limits: readonly [string, Limit, offered: string][] = [
  ['steps', (b) => b.withMaxSteps(1), 'grant'],
  ['tokens', (b) => b.withMaxTokens(1_000), 'grant'],
  ['cost', (b) => b.withMaxCost(1), 'grant'],
  ['session steps', (b) => b.addContinuationCriteria(sessionStepsLimit(1)), 'change'],
  ['session tokens', (b) => b.addContinuationCriteria(sessionTokenUsageLimit(1_000)), 'change'],
  ['session cost', (b) => b.addContinuationCriteria(sessionCostLimit(1)), 'change'],
];

const familyLimit: (typeof limits)[number] = [
  'family steps',
  (b) => b.withMaxFamilySteps(2),
  'grant',
];

const approved = ({ pendingApprovals }: AgentState) => ({
  approvals: Object.fromEntries(pendingApprovals.map(({ callId }) => [callId, approve])),
});

describe('approving a call after a limit is used up', () => {
  it.each(limits)('%s: runs the call, then the limit ends the run', async (_what, set, offered) => {
    const pay = gated();
    const agent = set(
      AgentBuilder.base()
        .withDriver(
          DeterministicDriver.fromSteps(toolCall('pay', {}, '', price), final('Paid.', price)),
        )
        .withTools(pay),
    ).build();
    const paused = await agent.run('go');
    expect(explainState(paused).actions).toMatchObject([{ kind: 'approve' }]);
    const state = await agent.resume(paused, approved(paused));
    expect([kinds(state), pay.calls.length, state.status]).toEqual([['ok'], 1, 'stopped']);
    const [action] = explainState(state).actions;
    expect(action?.kind).toBe(offered);
    if (action?.kind !== 'grant') return;
    const more = await agent.resume(state, { grant: action.grant });
    expect(more.output).toBe('Paid.');
  });

  const nested = (child: Limit, root: Limit) => {
    const pay = gated();
    const clerk = child(
      AgentBuilder.base()
        .withName('clerk')
        .withDriver(
          DeterministicDriver.fromSteps(toolCall('pay', {}, '', price), final('Paid.', price)),
        )
        .withTools(pay),
    ).build();
    const agent = root(
      AgentBuilder.base()
        .withDriver(
          DeterministicDriver.fromSteps(toolCall('ask', { input: 'pay' }), final('All paid.')),
        )
        .withTools(clerk.asTool({ name: 'ask', description: 'Asks the clerk.' })),
    ).build();
    return { pay, agent };
  };
  const none: Limit = (builder) => builder;

  it.each(limits.slice(0, 3))(
    '%s of a nested agent: runs its call, and the root continues',
    async (_what, set) => {
      const { pay, agent } = nested(set, none);
      const paused = await agent.run('go');
      const state = await agent.resume(paused, approved(paused));
      expect([pay.calls.length, kinds(state), state.output]).toEqual([1, ['ok'], 'All paid.']);
      expect(explainState(state).detail).toContain('The agent clerk stopped early');
    },
  );

  it.each([...limits, familyLimit])(
    '%s of the root: runs the call of the nested agent',
    async (_what, set, offered) => {
      const { pay, agent } = nested(none, set);
      const paused = await agent.run('go');
      const state = await agent.resume(paused, approved(paused));
      expect([pay.calls.length, kinds(state), state.status]).toEqual([1, ['ok'], 'stopped']);
      const [action] = explainState(state).actions;
      expect(action?.kind).toBe(offered);
      if (action?.kind !== 'grant') return;
      expect((await agent.resume(state, { grant: action.grant })).output).toBe('All paid.');
    },
  );
});

describe('approvals and time limits', () => {
  /** A driver whose first answer takes this many seconds; no timer interrupts it. */
  const slow = (clock: FakeClock, seconds: number, ...steps: readonly ScenarioStep[]) => {
    const driver = DeterministicDriver.fromSteps(...steps);
    let calls = 0;
    return {
      name: 'slow',
      infer: (...asked: Parameters<typeof driver.infer>) => {
        if (calls++ === 0) clock.jump(seconds * 1_000);
        return driver.infer(...asked);
      },
    };
  };
  const times: readonly [string, Limit][] = [
    ['withTimeout', (b) => b.withTimeout({ seconds: 10 })],
    ['withCumulativeTimeout', (b) => b.withCumulativeTimeout({ seconds: 10 })],
    ['sessionTimeLimit', (b) => b.addContinuationCriteria(sessionTimeLimit({ seconds: 10 }))],
  ];

  it.each(times)('%s: the deadline overrides the pause, and no call waits', async (_what, set) => {
    const clock = fakeClock();
    const pay = gated();
    const agent = set(
      AgentBuilder.base()
        .withDriver(slow(clock, 10, toolCall('pay'), final('Paid.')))
        .withTools(pay)
        .withClock(clock),
    ).build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect([state.pendingApprovals, kinds(state), pay.calls.length]).toEqual([[], ['timeout'], 0]);
    const [action] = explainState(state).actions;
    if (action?.kind === 'grant')
      expect((await agent.resume(state, { grant: action.grant })).output).toBe('Paid.');
    else expect(action?.kind).toBe('change');
  });

  it('the deadline of the root ends a nested agent that waits for approval', async () => {
    const clock = fakeClock();
    const clerk = AgentBuilder.base()
      .withName('clerk')
      .withDriver(slow(clock, 10, toolCall('pay')))
      .withTools(gated())
      .withClock(clock)
      .build();
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('ask', { input: 'pay' }), final('Late.')))
      .withTools(clerk.asTool({ name: 'ask', description: 'Asks the clerk.' }))
      .withCumulativeTimeout({ seconds: 10 })
      .withClock(clock)
      .build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit', pause: null });
    expect(kinds(state)).toEqual(['timeout']);
    const [action] = explainState(state).actions;
    if (action?.kind !== 'grant') throw new Error(`it offers ${action?.kind}`);
    expect((await agent.resume(state, { grant: action.grant })).output).toBe('Late.');
  });

  it('a grant given with the answer extends the time of the call', async () => {
    for (const [grant, expected] of [
      [undefined, 'timeout'],
      [{ seconds: 5 }, 'ok'],
    ] as const) {
      const clock = fakeClock();
      const takes3 = () =>
        new Promise((resolve) => {
          clock.after(3_000, () => resolve('paid'));
        });
      const agent = AgentBuilder.base()
        .withDriver(slow(clock, 9, toolCall('pay'), final('Paid.')))
        .withTools(gated('pay', takes3))
        .withCumulativeTimeout({ seconds: 10 })
        .withClock(clock)
        .build();
      const paused = await agent.run('go');
      const run = agent.resume(paused, { ...approved(paused), ...(grant && { grant }) });
      await clock.advance(3_000);
      expect(kinds(await run)).toEqual([expected]);
    }
  });
});
