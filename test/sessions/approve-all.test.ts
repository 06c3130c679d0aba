import { defineTool } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { asTool, ask, builder } from '../setup/nested-agents.ts';
import {
  ann,
  builderWith,
  followingDriver,
  isSound,
  places,
  refusal,
  runtimeOn,
} from '../setup/sessions.ts';
import { gated, paused } from '../setup/session-moments.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe.each(places)('approveAll (%s)', (_name, makePlace) => {
  const twoCalls = toolCalls([
    { name: 'pay', args: { n: 1 } },
    { name: 'pay', args: { n: 2 } },
  ]);

  it('approves every call that waits, each for its arguments, and records who did', async () => {
    const pay = gated();
    const agent = builderWith(followingDriver([twoCalls, toolCall('pay'), final('done')]), pay);
    const runtime = runtimeOn(makePlace().open(), agent.build());
    await paused(runtime, 's');
    const next = await runtime.approveAll('s', { ...ann, by: 'mira', wait: true });
    // the call of the next step waits: it was not there yet
    expect(next).toMatchObject({ status: 'paused', pendingApprovals: [{ tool: 'pay' }] });
    expect(pay.calls).toEqual([{ n: 1 }, { n: 2 }]);
    const [step] = (await runtime.steps('s', ann)).items;
    for (const { approval } of step?.results ?? [])
      expect(approval).toMatchObject({ decision: 'approved', by: 'mira' });
    const handle = runtime.session('s', ann);
    expect((await handle.approveAll({ wait: true })).output).toBe('done');
    await isSound(runtime, 's');
  });

  it('with calls approves exactly those', async () => {
    const pay = gated();
    const agent = builderWith(followingDriver([twoCalls, final('done')]), pay);
    const runtime = runtimeOn(makePlace().open(), agent.build());
    const { pendingApprovals } = await paused(runtime, 's');
    const calls = pendingApprovals.slice(1);
    const session = await runtime.approveAll('s', { ...ann, calls, wait: true });
    expect(pay.calls).toEqual([{ n: 2 }]);
    expect(session.pendingApprovals).toMatchObject([{ args: { n: 1 } }]);
  });

  it.each([
    ['other arguments', { argsHash: 'f'.repeat(64) }, 'stale_approval'],
    ['another execution', { executionId: 'other' }, 'stale_approval'],
    ['another call', { callId: 'other' }, 'unknown_approval'],
  ])('approves none if one was shown with %s', async (_case, wrong, code) => {
    const pay = gated();
    const agent = builderWith(followingDriver([twoCalls, final('done')]), pay);
    const runtime = runtimeOn(makePlace().open(), agent.build());
    const { pendingApprovals } = await paused(runtime, 's');
    const [first, second] = pendingApprovals;
    const calls = [first!, { ...second!, ...wrong }];
    const error = await refusal(() => runtime.approveAll('s', { ...ann, calls }));
    expect(error.code).toBe(code);
    expect(pay.calls).toEqual([]);
    expect((await runtime.get('s', ann)).pendingApprovals).toHaveLength(2);
  });

  it('approves calls of nested agents', async () => {
    const pay = gated();
    const inner = builder('inner', [twoCalls, final('paid')], pay).build();
    const agent = builderWith(
      followingDriver([toolCall('help', ask), final('done')]),
      asTool(inner),
    );
    const runtime = runtimeOn(makePlace().open(), agent.build());
    await paused(runtime, 's');
    expect(await runtime.approveAll('s', { ...ann, wait: true })).toMatchObject({ output: 'done' });
    expect(pay.calls).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('resumes nothing where no call waits, and finds no session of another owner', async () => {
    const wait = defineTool({
      name: 'wait',
      description: 'Waits.',
      execute: (_args, { requestPause }) => requestPause('later'),
    });
    const agent = builderWith(followingDriver([toolCall('wait'), final('done')]), wait);
    const runtime = runtimeOn(makePlace().open(), agent.build());
    await paused(runtime, 's');
    for (const options of [ann, { ...ann, calls: [] }])
      expect((await refusal(() => runtime.approveAll('s', options))).code).toBe('unknown_approval');
    expect((await refusal(() => runtime.approveAll('s', { owner: 'bob' }))).code).toBe(
      'session_not_found',
    );
    expect((await runtime.get('s', ann)).status).toBe('paused');
  });
});
