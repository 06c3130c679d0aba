import { AgentState, ErrorPolicy, type Grants } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import type { GrantPolicy } from '../../src/sessions/grant-policy.ts';
import { grantedByOwners } from '../../src/continuation/grant-allowance.ts';
import { asOwner, stoppedBy } from '../setup/owner-grants.ts';
import {
  agentWith,
  ann,
  builderWith,
  codeOf,
  followingDriver,
  memoryPlace,
  places,
  refusal,
  runtimeOn,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe.each(places)('the allowance of owners (%s)', (_name, makePlace) => {
  it('is the limit again in total, and the refusal names what is left', async () => {
    const { runtime, driver, session, grant } = await stoppedBy(
      (b) => b.withMaxSteps(3),
      {},
      makePlace(),
    );
    expect(session.allowance).toMatchObject({ left: { steps: 3 }, grant: { steps: 3 } });
    const refused = await refusal(() => grant({ steps: 200, cost: 1e9, tokens: 1e12 }));
    expect(refused).toMatchObject({
      code: 'grant_refused',
      details: {
        sessionId: 's',
        requested: { steps: 200, cost: 1e9, tokens: 1e12 },
        allowance: { steps: 3, cost: 0, tokens: 0 },
        grant: { steps: 3 },
      },
    });
    expect(refused.message).toContain(
      '{ steps: 3, tokens: 0, cost: 0 } to this execution. Grant { steps: 3 }',
    );
    expect(driver.calls).toBe(3);

    const second = await grant({ steps: 2 });
    expect(second).toMatchObject({ stepCount: 5, allowance: { left: { steps: 1 } } });
    expect((await refusal(() => grant({ steps: 2 }))).details).toMatchObject({
      allowance: { steps: 1 },
      grant: { steps: 1 },
    });
    const last = await grant({ steps: 1 });
    expect(last).toMatchObject({ stepCount: 6, grants: { steps: 3 } });
    expect(last.allowance).toMatchObject({ grant: null });
    expect(last.allowance?.left.steps).toBeUndefined();
    const none = await refusal(() => grant({ steps: 1 }));
    expect(none).toMatchObject({ code: 'grant_refused', details: { grant: null } });
    expect(none.message).toContain('Let an operator raise the limit, or send a new message.');
    expect(driver.calls).toBe(6);
    expect((await runtime.get('s', ann)).status).toBe('stopped');
  });

  it('does not limit operators, whose grants do not use it up', async () => {
    const { runtime, grant } = await stoppedBy((b) => b.withMaxSteps(2), {}, makePlace());
    const by = await runtime.resume('s', { ...waiting, grant: { steps: 50 }, by: 'ops@shop' });
    expect(by).toMatchObject({ stepCount: 52, allowance: { left: { steps: 2 } } });
    const own = await grant({ steps: 2 });
    expect(own.stepCount).toBe(54);
    expect(own.grantLog).toEqual([
      { grant: { steps: 50 }, by: 'ops@shop', at: expect.any(String), authority: 'operator' },
      { grant: { steps: 2 }, by: 'ann', at: expect.any(String), authority: 'owner' },
    ]);
    expect(Date.parse(own.grantLog[0]!.at)).toBeGreaterThan(Date.now() - 60_000);
    expect(await codeOf(() => grant({ steps: 1 }))).toBe('grant_refused');
  });

  it('accepts one of many concurrent requests', async () => {
    const { runtime, driver } = await stoppedBy((b) => b.withMaxSteps(3), {}, makePlace());
    const asked = await Promise.allSettled(
      Array.from({ length: 8 }, () =>
        runtime.resume('s', { ...asOwner, wait: false, grant: { steps: 3 } }),
      ),
    );
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const session = await runtime.wait('s', ann);
    expect(session.grants).toEqual({ steps: 3 });
    expect(driver.calls).toBe(6);
  });

  it('limits the sum of concurrent answers that each have a grant', async () => {
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const ids = [0, 1, 2, 3];
    const script = [toolCalls(ids.map((id) => ({ name: 'pay', args: { id } })))];
    const more = Array.from({ length: 30 }, () => toolCall('look'));
    const agent = builderWith(followingDriver([...script, ...more]), pay, mockTool('look'))
      .withMaxSteps(3)
      .build();
    const runtime = runtimeOn(makePlace().open(), agent);
    await runtime.create({ ...ann, id: 's' });
    const paused = await runtime.send('s', 'go', waiting);
    const answers = await Promise.allSettled(
      paused.pendingApprovals.map(({ callId }) =>
        runtime.resume('s', {
          ...asOwner,
          wait: false,
          approvals: { [callId]: { approve: true } },
          grant: { steps: 3 },
        }),
      ),
    );
    expect(answers.some(({ status }) => status === 'fulfilled')).toBe(true);
    let session = await runtime.wait('s', ann);
    while (session.status === 'paused') session = await runtime.resume('s', waiting);
    expect(session.grants.steps).toBeLessThanOrEqual(3);
    expect(session.stepCount).toBeLessThanOrEqual(6);
  });

  it('is carried over to a fork: of the whole, of a step before the grant, of an earlier execution', async () => {
    const { runtime, grant } = await stoppedBy((b) => b.withMaxSteps(3), {}, makePlace());
    await grant({ steps: 3 });
    await runtime.fork('s', { ...ann, id: 'whole' });
    await runtime.fork('s', { ...ann, id: 'early', atStep: 2 });
    await runtime.send('s', 'and now?', waiting);
    await runtime.fork('s', { ...ann, id: 'old', atStep: 3 });
    await runtime.fork('early', { ...ann, id: 'again' });
    expect((await runtime.resume('early', waiting)).status).toBe('stopped');
    for (const id of ['whole', 'early', 'old', 'again']) {
      const refused = await refusal(() => grant({ steps: 1 }, id));
      expect([id, refused.code, refused.details['grant']]).toEqual([id, 'grant_refused', null]);
    }
    // a new message begins a new execution, with its own allowance
    expect((await runtime.get('s', ann)).allowance).toMatchObject({ left: { steps: 3 } });
    const next = await runtime.send('whole', 'something else', waiting);
    expect(next.allowance).toMatchObject({ left: { steps: 3 }, grant: { steps: 3 } });
  });
});

describe('the default cap', () => {
  it('covers usage beyond the limit, so that the grant of a remedy is accepted', async () => {
    const { session, grant } = await stoppedBy((b) => b.withMaxTokens(250).withMaxSteps(90));
    expect(session.usage.total).toBe(300);
    expect(session.allowance).toMatchObject({ left: { tokens: 300 }, grant: { tokens: 300 } });
    const next = await grant({ tokens: 300 });
    expect(next.usage.total).toBe(600);
    expect(next.allowance?.grant).toBeNull();
  });

  it('is not exceeded by many small grants', async () => {
    const { runtime, grant } = await stoppedBy((b) => b.withMaxTokens(250).withMaxSteps(90));
    let session = await runtime.get('s', ann);
    for (let i = 0; i < 20 && session.allowance?.grant; i++)
      session = await grant({ tokens: Math.min(session.allowance.grant.tokens ?? 0, 51) }).catch(
        () => runtime.get('s', ann),
      );
    // the limit again, and one call of overshoot on each side
    expect(session.usage.total).toBeLessThanOrEqual(2 * 250 + 2 * 100);
  });

  it('accepts the grant of a remedy for cost', async () => {
    const money = await stoppedBy((b) => b.withMaxCost(2.5).withMaxSteps(90));
    expect(money.session.allowance?.grant).toEqual({ cost: 3 });
    expect((await money.grant({ cost: 3 })).cost).toBe(6);
  });

  it('allows no grant for a kind without a limit, unless a remedy names it', async () => {
    const { grant } = await stoppedBy((b) => b.withMaxSteps(2));
    for (const grants of [{ tokens: 1 }, { cost: 1 }, { steps: 1, tokens: 1e15 }] as Grants[])
      expect(await codeOf(() => grant(grants))).toBe('grant_refused');
    const cut = agentWith([final('cut off', { finishReason: 'length' }), final('done')]);
    const runtime = runtimeOn(memoryPlace().open(), cut);
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    const done = await runtime.resume('s', { ...asOwner, grant: { steps: 1 } });
    expect(done.output).toBe('done');
  });

  it('for retries is the retries of the policy again, at least one', async () => {
    const failing = Array.from({ length: 9 }, () => ScenarioStep.error('503'));
    const start = async (retries: number) => {
      const policy = retries === 0 ? ErrorPolicy.stopOnAnyError() : ErrorPolicy.retryAll(retries);
      const agent = builderWith(DeterministicDriver.fromSteps(...failing))
        .withErrorPolicy(policy.withBackoff({ initialMs: 0, maxMs: 0 }))
        .build();
      const runtime = runtimeOn(memoryPlace().open(), agent);
      await runtime.create({ ...ann, id: 's' });
      await runtime.send('s', 'go', waiting);
      return runtime;
    };
    const once = await start(0);
    await once.resume('s', { ...asOwner, grant: { retries: 1 } });
    const refused = await refusal(() => once.resume('s', { ...asOwner, grant: { retries: 1 } }));
    expect(refused).toMatchObject({ code: 'grant_refused', details: { grant: null } });
    const twice = await start(2);
    expect((await twice.get('s', ann)).allowance).toMatchObject({ grant: { retries: 2 } });
    expect(await codeOf(() => twice.resume('s', { ...asOwner, grant: { retries: 5 } }))).toBe(
      'grant_refused',
    );
    await twice.resume('s', { ...asOwner, grant: { retries: 2 } });
  });

  it('counts grants of earlier releases, which have no record, as those of owners', () => {
    const { execution } = AgentState.from({
      ...AgentState.empty().toJSON(),
      execution: { id: 'e', grants: { steps: 3 } } as never,
    });
    expect(grantedByOwners(execution)).toMatchObject({ steps: 3, tokens: 0 });
    const at = '2026-01-16T12:00:00.000Z';
    const grantLog = [{ grant: { steps: 2 }, by: null, at, authority: 'operator' as const }];
    expect(grantedByOwners({ ...execution, grantLog })).toMatchObject({ steps: 1 });
  });
});

describe('custom caps', () => {
  const stopped = (grants: GrantPolicy) => stoppedBy((b) => b.withMaxSteps(2), { grants });

  it.each<[string, GrantPolicy, number | null]>([
    ['a number is the total cap', { steps: 7 }, 7],
    ['0 allows none', { steps: 0 }, null],
    ['kinds that are left out keep the default', { tokens: 9 }, 2],
    ['unlimited for one kind', { steps: 'unlimited' }, 1_000],
    ['unlimited for all', 'unlimited', 1_000],
    ['a function of the session', ({ session }) => ({ steps: session.owner === 'ann' ? 4 : 0 }), 4],
    ['an asynchronous function', async ({ defaults }) => ({ steps: defaults.steps * 3 }), 6],
  ])('%s', async (_case, grants, most) => {
    const { grant } = await stopped(grants);
    if (most === null) return expect(await codeOf(() => grant({ steps: 1 }))).toBe('grant_refused');
    if (most < 1_000) expect(await codeOf(() => grant({ steps: most + 1 }))).toBe('grant_refused');
    expect((await grant({ steps: most })).grants).toEqual({ steps: most });
  });

  it('pass the granted and the requested amounts to a function', async () => {
    const questions: unknown[] = [];
    const { grant } = await stopped((question) => {
      questions.push(question);
      return { steps: 10 };
    });
    await grant({ steps: 3 });
    questions.length = 0;
    await grant({ steps: 4 });
    expect(questions[0]).toEqual({
      session: { id: 's', owner: 'ann', agent: 'support' },
      executionId: expect.any(String),
      granted: { steps: 3 },
      requested: { steps: 4 },
      defaults: { steps: 2, tokens: 0, cost: 0, seconds: 300, retries: 0 },
    });
  });

  it('can be given with a call, instead of those of the runtime', async () => {
    const { runtime } = await stopped({ steps: 1 });
    const grants = { steps: 5 };
    expect((await runtime.get('s', { ...ann, grants })).allowance?.left.steps).toBe(5);
    const after = await runtime.resume('s', { ...asOwner, grants, grant: { steps: 5 } });
    expect(after.stepCount).toBe(7);
  });

  it.each<[unknown, string]>([
    [5, 'SessionRuntime grants got 5'],
    [null, 'SessionRuntime grants got null'],
    [{ steps: -1 }, 'SessionRuntime grants "steps" got -1'],
    [{ tokens: Number.NaN }, 'SessionRuntime grants "tokens" got NaN'],
    [{ turns: 3 }, 'SessionRuntime grants "turns" got 3'],
    [{ cost: 'free' }, 'SessionRuntime grants "cost" got "free"'],
  ])('reject the policy %j', async (grants, message) => {
    const refused = await refusal(() =>
      runtimeOn(memoryPlace().open(), agentWith([final('x')]), { grants: grants as GrantPolicy }),
    );
    expect(refused).toMatchObject({ code: 'invalid_option' });
    expect(refused.message).toContain(message);
  });

  it.each<[unknown]>([
    [{ steps: 0 }],
    [{ steps: -1 }],
    [{ steps: 0.5 }],
    [{ steps: '3' }],
    [{ steps: Number.NaN }],
    [{ steps: Number.POSITIVE_INFINITY }],
    [{ tokens: 1e300 }],
    [{ turns: 1 }],
    [{}],
    ['all'],
  ])('reject the grant %j, even without caps', async (grant) => {
    const { runtime } = await stopped('unlimited');
    for (const options of [waiting, asOwner])
      expect(await codeOf(() => runtime.resume('s', { ...options, grant: grant as Grants }))).toBe(
        'invalid_option',
      );
  });

  it('reject an unknown authority', async () => {
    const { runtime } = await stopped('unlimited');
    const authority = 'admin' as never;
    expect(
      await codeOf(() => runtime.resume('s', { ...ann, authority, grant: { steps: 1 } })),
    ).toBe('invalid_option');
  });
});
