import { SlimAgentStateSerializer, defineTool, type AnyTool } from 'onward';
import { mockTool, ScenarioStep, type MockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { asTool, ask, builder } from '../setup/nested-agents.ts';
import {
  ann,
  builderWith,
  followingDriver,
  gate,
  isSound,
  places,
  refusal,
  runtimeOn,
} from '../setup/sessions.ts';
import { gated, paused } from '../setup/session-moments.ts';

const { toolCall, final } = ScenarioStep;
const remember = { ...ann, remember: 'session', by: 'mira', wait: true } as const;
const pays = (n: number) => toolCall('pay', { n });

describe.each(places)('a remembered approval (%s)', (_name, makePlace) => {
  const agentOf = (turns: readonly (readonly ScenarioStep[])[], ...tools: readonly MockTool[]) =>
    builderWith(followingDriver(...turns), ...tools).build();

  /** A session whose first call of `pay` was approved and remembered. */
  async function remembered(turns: readonly (readonly ScenarioStep[])[], pay = gated()) {
    const place = makePlace();
    const runtime = runtimeOn(place.open(), agentOf(turns, pay));
    const session = await paused(runtime, 's');
    await runtime.approve('s', session.pendingApprovals[0]!.callId, remember);
    return { place, runtime, pay };
  }

  it('approves later calls of the tool, also in the next execution, and the result says so', async () => {
    const { runtime, pay } = await remembered([
      [pays(1), pays(2), final('one')],
      [pays(3), final('two')],
    ]);
    expect(await runtime.get('s', ann)).toMatchObject({ status: 'completed', output: 'one' });
    const [rule] = await runtime.rules('s', ann);
    expect(rule).toMatchObject({ agentPath: ['support'], tool: 'pay', by: 'mira' });
    await runtime.send('s', 'again', { ...ann, wait: true });
    expect(pay.calls).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    const approvals = (await runtime.steps('s', ann)).items.flatMap(({ results }) =>
      results.map(({ approval }) => approval),
    );
    expect(approvals.map((one) => [one?.by, one?.rememberedAt])).toEqual([
      ['mira', undefined],
      ['mira', rule!.at],
      ['mira', rule!.at],
    ]);
    await isSound(runtime, 's');
  });

  it('counts in another process, and not in a fork', async () => {
    const turns = [
      [pays(1), final('one')],
      [pays(2), final('two')],
    ];
    const { place, runtime, pay } = await remembered(turns);
    await runtime.close();
    const other = runtimeOn(place.open(), agentOf(turns, pay));
    await other.fork('s', { ...ann, id: 'fork' });
    expect(await other.rules('fork', ann)).toEqual([]);
    const forked = await other.send('fork', 'again', { ...ann, wait: true });
    expect(forked.pendingApprovals).toMatchObject([{ tool: 'pay' }]);
    expect((await other.send('s', 'again', { ...ann, wait: true })).output).toBe('two');
  });

  it('lapses when description or schema of the tool change', async () => {
    const turns = [
      [pays(1), final('one')],
      [pays(2), final('two')],
    ];
    const { place, runtime } = await remembered(turns);
    await runtime.close();
    const changed = mockTool('pay', 'paid', { needsApproval: true, description: 'Pays twice.' });
    const other = runtimeOn(place.open(), agentOf(turns, changed));
    expect((await other.send('s', 'again', { ...ann, wait: true })).status).toBe('paused');
    expect(changed.calls).toEqual([]);
  });

  it('is revoked: idle, listed no more, and the next call waits', async () => {
    const { runtime, pay } = await remembered([
      [pays(1), final('one')],
      [pays(2), final('two')],
    ]);
    const [rule] = await runtime.rules('s', ann);
    await runtime.revokeRule('s', rule!.id, ann);
    expect(await runtime.rules('s', ann)).toEqual([]);
    await runtime.wait('s', ann);
    expect(await runtime.get('s', ann)).toMatchObject({ status: 'completed', output: 'one' });
    expect((await runtime.state('s', ann)).approvalRules).toEqual([]);
    expect((await runtime.send('s', 'again', { ...ann, wait: true })).status).toBe('paused');
    expect(pay.calls).toEqual([{ n: 1 }]);
    const error = await refusal(() => runtime.revokeRule('s', rule!.id, ann));
    expect(error.code).toBe('unknown_approval');
  });

  it('a revoke from another process reaches a running worker before its next tool', async () => {
    const place = makePlace();
    const [entered, open] = [gate(), gate()];
    const slow = mockTool('slow', async () => {
      entered.open();
      await open.passed;
      return 'ok';
    });
    const pay = gated();
    const turns = [[pays(1), toolCall('slow'), pays(2), final('one')]];
    const worker = runtimeOn(place.open(), agentOf(turns, pay, slow));
    const session = await paused(worker, 's');
    await worker.approve('s', session.pendingApprovals[0]!.callId, { ...remember, wait: false });
    await entered.passed;
    const client = runtimeOn(place.open(), agentOf(turns, pay, slow), { work: false });
    const [rule] = await client.rules('s', ann);
    await client.revokeRule('s', rule!.id, ann);
    open.open();
    const waiting = await worker.wait('s', ann);
    expect(waiting.pendingApprovals).toMatchObject([{ tool: 'pay', args: { n: 2 } }]);
    expect(pay.calls).toEqual([{ n: 1 }]);
    await worker.approve('s', waiting.pendingApprovals[0]!.callId, { ...ann, wait: true });
    expect(await worker.wait('s', ann)).toMatchObject({ status: 'completed', output: 'one' });
    expect((await worker.state('s', ann)).approvalRules).toEqual([]);
    await isSound(worker, 's');
  });

  it('is for one agent: a nested agent with a tool of that name asks', async () => {
    const [own, nested] = [gated(), gated()];
    const inner = builder('inner', [pays(2), final('inner')], nested).build();
    const driver = followingDriver([pays(1), toolCall('help', ask), final('done')]);
    const agent = builderWith(driver, own, asTool(inner)).build();
    const runtime = runtimeOn(makePlace().open(), agent);
    const session = await paused(runtime, 's');
    const next = await runtime.approve('s', session.pendingApprovals[0]!.callId, remember);
    expect(own.calls).toHaveLength(1);
    expect(nested.calls).toEqual([]);
    const [call] = next.pendingApprovals;
    expect((await runtime.approve('s', call!.callId, remember)).output).toBe('done');
    expect((await runtime.rules('s', ann)).map(({ agentPath }) => agentPath)).toEqual([
      ['support'],
      ['support', 'help', 'inner'],
    ]);
  });

  it('does not cover arguments that a hook changes to ones that need approval', async () => {
    const pay = gated();
    const agent = builderWith(followingDriver([pays(1), pays(2), final('done')]), pay)
      .withHooks({
        name: 'more',
        aroundToolCall: (input, next) =>
          next(input.args['n'] === 2 ? { ...input, args: { n: 200 } } : input),
      })
      .build();
    const runtime = runtimeOn(makePlace().open(), agent);
    const session = await paused(runtime, 's');
    await runtime.approve('s', session.pendingApprovals[0]!.callId, remember);
    expect(pay.calls).toEqual([{ n: 1 }]);
    const results = (await runtime.steps('s', ann)).items.flatMap((step) => step.results);
    expect(results.map(({ kind }) => kind)).toEqual(['ok', 'blocked']);
  });

  it('belongs to the owner, is never part of a denial, and no slim state carries it', async () => {
    const { runtime } = await remembered([[pays(1), final('one')]]);
    const [rule] = await runtime.rules('s', ann);
    for (const work of [
      () => runtime.rules('s', { owner: 'bob' }),
      () => runtime.revokeRule('s', rule!.id, { owner: 'bob' }),
    ])
      expect((await refusal(work)).code).toBe('session_not_found');
    const state = await runtime.state('s', ann);
    const slim = new SlimAgentStateSerializer();
    expect(JSON.stringify(slim.serialize(state))).not.toContain(rule!.definitionHash);
    const answer = { c: { deny: 'no', remember: 'session' } } as never;
    const wrong = () => runtime.resume('s', { ...ann, approvals: answer });
    expect((await refusal(wrong)).code).toBe('invalid_approval');
  });
});

describe('a session remembers at most 100 approvals', () => {
  const many: AnyTool[] = Array.from({ length: 102 }, (_, i) =>
    defineTool({
      name: `t${i}`,
      description: 'Does it.',
      needsApproval: true,
      execute: () => 'ok',
    }),
  );
  const named = (from: number, to: number) => many.slice(from, to).map(({ name }) => ({ name }));
  const agentOn = (...steps: readonly ScenarioStep[]) =>
    builderWith(followingDriver(steps), ...(many as never[])).build();
  const yes = { approve: true, remember: 'session' } as const;
  const answersTo = (calls: readonly { readonly callId: string }[]) =>
    Object.fromEntries(calls.map(({ callId }) => [callId, yes]));

  it('and refuses answers that ask for more, before anything runs', async () => {
    const steps = [ScenarioStep.toolCalls(named(0, 101)), final('done')];
    const first = await agentOn(...steps).run('go');
    const all = answersTo(first.pendingApprovals);
    const error = await refusal(() => agentOn(...steps).resume(first, { approvals: all }));
    expect([error.code, error.message]).toEqual([
      'invalid_approval',
      'A session remembers at most 100 approvals. This one remembers 0, so only 100 of these 101 can be ' +
        'remembered. Nothing was run. Revoke one, or approve without remember.',
    ]);
    const [one = ''] = Object.keys(all);
    const state = await agentOn(...steps).resume(first, {
      approvals: { ...all, [one]: { approve: true } },
    });
    expect([state.output, state.approvalRules.length]).toEqual(['done', 100]);
  });

  it('but still replaces one that it has', async () => {
    const steps = [
      ScenarioStep.toolCalls(named(0, 100)),
      ScenarioStep.toolCalls(named(100, 101)),
      final('done'),
    ];
    const first = await agentOn(...steps).run('go');
    const state = await agentOn(...steps).resume(first, {
      approvals: answersTo(first.pendingApprovals),
    });
    expect(state.approvalRules).toHaveLength(100);
    const [call] = state.pendingApprovals;
    const error = await refusal(() =>
      agentOn(...steps).resume(state, { approvals: { [call!.callId]: yes } }),
    );
    expect(error.message).toContain('This one remembers 100, so the answer for t0s1c0 cannot be');
    // a rule that lapsed, for the tool that waits now
    const lapsed = state.toJSON();
    const rules = lapsed.approvalRules!.map((rule, i) =>
      i === 0 ? { ...rule, tool: 't100', definitionHash: 'old' } : rule,
    );
    const again = await agentOn(...steps).resume(
      { ...lapsed, approvalRules: rules },
      { approvals: { [call!.callId]: yes } },
    );
    expect(again.output).toBe('done');
    expect(again.approvalRules).toHaveLength(100);
    expect(again.approvalRules.find(({ tool }) => tool === 't100')?.definitionHash).not.toBe('old');
  });

  it.each(places)(
    'and says which answer came too late for the last place (%s)',
    async (_n, make) => {
      const steps = [
        ScenarioStep.toolCalls(named(0, 99)),
        ScenarioStep.toolCalls(named(99, 101)),
        final('done'),
      ];
      const runtime = runtimeOn(make().open(), agentOn(...steps));
      const session = await paused(runtime, 's');
      const next = await runtime.resume('s', {
        ...ann,
        approvals: answersTo(session.pendingApprovals),
        wait: true,
      });
      // both answers fit when they are given
      const said = next.pendingApprovals.map(({ callId }) =>
        runtime.approve('s', callId, { ...remember }),
      );
      expect((await Promise.allSettled(said)).map(({ status }) => status)).toContain('fulfilled');
      const done = await runtime.wait('s', ann);
      if (done.pendingApprovals.length === 0) {
        const [step] = (await runtime.steps('s', { ...ann, limit: 2 })).items;
        expect(
          step?.results.map(({ approval }) => approval?.notRemembered ?? false).toSorted(),
        ).toEqual([false, true]);
        expect(done.output).toBe('done');
      }
      expect(await runtime.rules('s', ann)).toHaveLength(100);
    },
  );
});
