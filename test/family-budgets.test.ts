import { AgentBuilder, ErrorPolicy, sessionCostLimit, sessionTokenUsageLimit } from 'onward';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { asTool, listening, member, Meter, meteredModel, type Spoken } from './setup/families.ts';
import { takesAnotherTurn } from './setup/states.ts';

const look = mockTool('look', 'seen');

/** Calls its tool in every answer. */
const works =
  (tokens: number, more: Partial<Spoken> = {}) =>
  (): Spoken => ({ call: 'look', text: 'So far so good.', tokens, ...more });

/** Calls the helper `times` times in one step, then answers. */
const asks =
  (times: number, tokens = 10, tool = 'help') =>
  (call: number): Spoken =>
    call === 0 ? { call: tool, times, tokens } : { text: 'done', tokens };

function family(
  times: number,
  helper: (call: number) => Spoken,
  limit: (b: AgentBuilder) => AgentBuilder,
) {
  const meter = new Meter();
  const child = member('helper', meter, helper, look).build();
  const root = limit(member('root', meter, asks(times), asTool(child, 'help'))).build();
  return { meter, root };
}

describe('D79: limits of the root apply to nested agents', () => {
  it('stops a nested agent that never ends on its own', async () => {
    const { meter, root } = family(1, works(1000), (b) => b.withMaxTokens(500));
    const received = listening();
    const state = await root.run('go', { wiretap: received.wiretap });
    expect(meter.spent).toBe(10 + 1000);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'token_limit' });
    expect(state.usage.total).toBe(1010);
    expect(state.steps.at(0)?.results[0]).toMatchObject({
      kind: 'ok',
      value: { stopped: 'token_limit', text: 'So far so good.' },
    });
    expect(received.ends).toEqual([
      {
        agent: 'helper',
        decisive: {
          criterion: 'TokenUsageLimit',
          decision: 'forbid',
          reason:
            'the limit of "root" for all its agents: 1010 of 500 tokens used while work is still pending, 1000 of them by helper',
          context: {
            used: 1010,
            limit: 500,
            spenders: [{ agent: 'helper', amount: 1000 }],
            scope: 'family',
            agent: 'root',
          },
          stopReason: 'token_limit',
          remedy: {
            text: 'grant more tokens to "root", or raise the limit of "root" with withMaxTokens(...).',
            option: 'withMaxTokens(...)',
          },
          facts: {
            kind: 'limit',
            unit: 'tokens',
            scope: 'family',
            used: 1010,
            base: 500,
            granted: 0,
            limit: 500,
            owed: 510,
            agent: 'root',
          },
        },
      },
    ]);
    await takesAnotherTurn(state);
  });

  it('eight parallel agents overspend by at most one call each', async () => {
    const { meter, root } = family(8, works(1000, { delayMs: 2 }), (b) => b.withMaxTokens(2500));
    const state = await root.run('go');
    // the size of a call is unknown until the first one ends
    expect(meter.mostInFlight).toBe(8);
    expect(meter.spent).toBe(10 + 8 * 1000);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'token_limit' });
    expect(state.usage.total).toBe(meter.spent);
    expect(state.steps.at(0)?.results.map(({ value }) => value)).toEqual(
      Array.from({ length: 8 }, () => ({ stopped: 'token_limit', text: 'So far so good.' })),
    );
  });

  it('once the size of a call is known, only as many calls start as the budget allows', async () => {
    const meter = new Meter();
    const child = member('helper', meter, works(1000, { delayMs: 2 }), look).build();
    const root = member('root', meter, asks(8, 1000), asTool(child, 'help'))
      .withMaxTokens(5000)
      .build();
    const state = await root.run('go');
    expect(meter.mostInFlight).toBe(4);
    expect(state.usage.total).toBe(5000);
    expect(state.stopReason).toBe('token_limit');
    const texts = state.steps.at(0)?.results.map(({ value }) => (value as { text: string }).text);
    // four were stopped before their first call, with no error and no text
    expect(texts?.filter((text) => text === '')).toHaveLength(4);
  });

  it.each<[string, Partial<Spoken>, Partial<Spoken>, (b: AgentBuilder) => AgentBuilder]>([
    ['tokens', { tokens: 1000 }, { tokens: 100 }, (b) => b.withMaxTokens(5000)],
    ['cost', { cost: 1 }, { cost: 1 }, (b) => b.withMaxCost(5)],
    ['cost, with smaller calls', { cost: 1 }, { cost: 0.1 }, (b) => b.withMaxCost(5)],
  ])(
    'reserves the size of the largest call for each call in flight: %s',
    async (_what, own, helps, limit) => {
      const meter = new Meter();
      const child = member('helper', meter, works(10, { delayMs: 2, ...helps }), look).build();
      const speak = (call: number): Spoken => ({ ...asks(8)(call), ...own });
      const root = limit(member('root', meter, speak, asTool(child, 'help'))).build();
      await root.run('go');
      expect(meter.mostInFlight).toBe(4);
    },
  );

  it('a nested agent makes no model call when the budget is used up', async () => {
    const meter = new Meter();
    const received = listening();
    const child = member('helper', meter, works(1), look).build();
    const root = member('root', meter, asks(3, 150), asTool(child, 'help'))
      .withMaxTokens(100)
      .build();
    const state = await root.run('go', { wiretap: received.wiretap });
    expect(meter.starts.map(({ agent }) => agent)).toEqual(['root']);
    expect(state.stopReason).toBe('token_limit');
    expect(state.steps.at(0)).toMatchObject({ errors: [], usage: { total: 150 } });
    for (const { value } of state.steps.at(0)?.results ?? [])
      expect(value).toEqual({ stopped: 'token_limit', text: '' });
    expect(received.ends).toHaveLength(3);
    expect(received.ends[0]?.decisive.reason).toBe(
      'the limit of "root" for all its agents: 150 of 100 tokens used while work is still pending',
    );
  });

  it.each<[string, (b: AgentBuilder) => AgentBuilder, string, string]>([
    ['cost', (b) => b.withMaxCost(0.5), 'CostLimit', 'guard'],
    [
      'session tokens',
      (b) => b.addContinuationCriteria(sessionTokenUsageLimit(500)),
      'SessionTokenUsageLimit',
      'token_limit',
    ],
    [
      'session cost',
      (b) => b.addContinuationCriteria(sessionCostLimit(0.5)),
      'SessionCostLimit',
      'guard',
    ],
    ['family steps', (b) => b.withMaxFamilySteps(2), 'FamilyStepsLimit', 'steps_limit'],
    [
      'a custom limit',
      (b) =>
        b.addContinuationCriteria({
          name: 'Thrift',
          kind: 'limit',
          evaluate: ({ execution }) => (execution.usage.total > 500 ? 'forbid' : 'allow'),
        }),
      'Thrift',
      'guard',
    ],
  ])('%s', async (_case, limit, criterion, stopReason) => {
    const { meter, root } = family(1, works(600, { cost: 0.6 }), limit);
    const received = listening();
    const state = await root.run('go', { wiretap: received.wiretap });
    expect(meter.calls).toBe(2);
    expect(received.ends[0]?.decisive).toMatchObject({ criterion, context: { scope: 'family' } });
    expect(received.ends[0]?.decisive.remedy?.grant).toBeUndefined();
    expect(state.stopReason).toBe(stopReason);
    expect(state.lastContinuationOutcome?.resolvedBy).toBe(criterion);
  });

  it('apply at every nesting level', async () => {
    const meter = new Meter();
    const received = listening();
    const inner = member('inner', meter, works(400), look).build();
    const middle = member('middle', meter, asks(2, 10, 'inner'), asTool(inner, 'inner')).build();
    const root = member('root', meter, asks(2, 10, 'middle'), asTool(middle, 'middle'))
      .withMaxTokens(1000)
      .build();
    const state = await root.run('go', { wiretap: received.wiretap });
    expect(state.stopReason).toBe('token_limit');
    expect(state.usage.total).toBe(meter.spent);
    // at most the four calls in flight overspend
    expect(meter.spent).toBeLessThanOrEqual(1000 + 4 * 400);
    expect(received.ends.map(({ agent }) => agent).toSorted()).toEqual([
      ...Array.from({ length: 4 }, () => 'inner'),
      'middle',
      'middle',
    ]);
    for (const { decisive } of received.ends) expect(decisive.context['agent']).toBe('root');
    expect(state.execution.family?.map(({ agent }) => agent).toSorted()).toEqual([
      'inner',
      'middle',
    ]);
  });

  it('limits of an agent in the middle apply below it and take no grant', async () => {
    const meter = new Meter();
    const received = listening();
    const inner = member('inner', meter, works(400), look).build();
    const middle = member('middle', meter, asks(1, 10, 'inner'), asTool(inner, 'inner'))
      .withMaxTokens(1000)
      .build();
    const root = member('root', meter, asks(1, 10, 'middle'), asTool(middle, 'middle')).build();
    const state = await root.run('go', { wiretap: received.wiretap });
    expect(state).toMatchObject({ status: 'completed', output: 'done' });
    expect(state.usage.total).toBe(10 + 10 + 3 * 400 + 10);
    expect(received.ends[0]?.decisive.context).toMatchObject({ scope: 'family', agent: 'middle' });
    expect(received.ends[0]?.decisive.remedy?.text).toBe(
      'raise the limit of "middle" with withMaxTokens(...).',
    );
    expect(state.steps.at(0)?.results[0]?.value).toEqual({ stopped: 'token_limit', text: '' });
  });

  it('a nested agent keeps its own limits', async () => {
    const meter = new Meter();
    const received = listening();
    const child = member('helper', meter, works(100), look).withMaxTokens(250).build();
    const root = member('root', meter, asks(1), asTool(child, 'help')).withMaxTokens(5000).build();
    const state = await root.run('go', { wiretap: received.wiretap });
    expect(received.ends[0]?.decisive.context).toEqual({ used: 300, limit: 250 });
    expect(state).toMatchObject({ status: 'completed', output: 'done' });
  });

  it('failed calls and their retries count with the usage they report', async () => {
    const meter = new Meter();
    const speak = (): Spoken => ({ tokens: 300, fails: 'with usage' });
    const child = member('helper', meter, speak, look)
      .withErrorPolicy(ErrorPolicy.retryAll(50).withBackoff({ initialMs: 0 }))
      .build();
    const root = member('root', meter, asks(1), asTool(child, 'help')).withMaxTokens(1000).build();
    const state = await root.run('go');
    expect(meter.failed).toBe(4);
    expect(state.usage.total).toBe(10 + 4 * 300);
    expect(state.stopReason).toBe('token_limit');
    expect(state.steps.at(0)?.results[0]?.value).toEqual({ stopped: 'token_limit', text: '' });
  });

  it('a cost limit is not enforced without prices', async () => {
    const { root, meter } = family(
      2,
      (call) => (call < 2 ? works(100)() : { text: 'helped', tokens: 100 }),
      (b) => b.withMaxCost(0.1),
    );
    const state = await root.run('go');
    expect(state).toMatchObject({ status: 'completed', cost: null });
    expect(meter.spent).toBe(state.usage.total);
  });

  it('calls run in parallel without waiting when there are no limits', async () => {
    const meter = new Meter();
    const speak = (call: number): Spoken =>
      call < 3 ? works(1000, { delayMs: 2 })() : { text: 'helped', tokens: 1000 };
    const child = AgentBuilder.new()
      .withName('helper')
      .withDriver(meteredModel('helper', meter, speak))
      .withTools(look)
      .build();
    const root = AgentBuilder.new()
      .withName('root')
      .withDriver(meteredModel('root', meter, asks(8)))
      .withTools(asTool(child, 'help'))
      .build();
    expect(await root.run('go')).toMatchObject({ status: 'completed' });
    expect(meter.mostInFlight).toBe(8);
  });
});
