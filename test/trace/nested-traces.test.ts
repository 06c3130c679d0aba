import { AgentBuilder, createRedactor, type SessionRuntime } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import type { Trace, TraceBar, TraceCall } from '../../src/trace/index.ts';
import { readTrace } from '../../src/trace/index.ts';
import {
  ann,
  builderWith,
  codeOf,
  followingDriver,
  gate,
  places,
  refusal,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';
import { traceOn } from './sound-trace.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const ask = { input: 'go' };
const used = (total: number, cost: number) => ({
  usage: { input: total, output: 0, total },
  cost,
});

const childrenOf = ({ steps }: Trace): readonly TraceBar[] =>
  steps.flatMap(({ bars }) => bars.filter(({ child }) => child));
const openIn = (runtime: SessionRuntime, call: TraceCall, more = {}): Promise<Trace> =>
  traceOn(runtime, { call, ...more });

/** support asks two researchers at once; the first of them asks a reader, which needs approval. */
function family(who: string, ran: string[], seen = mockTool('look', 'seen')) {
  const file = mockTool('file', () => (ran.push(who), 'filed'), { needsApproval: true });
  const reader = AgentBuilder.base()
    .withName('reader')
    .withDriver(
      followingDriver([toolCall('file', {}, '', used(10, 0.1)), final('read', used(20, 0.2))]),
    )
    .withTools(file)
    .build();
  const researcher = AgentBuilder.base()
    .withName('researcher')
    .withDriver(
      followingDriver([
        toolCall('look', {}, 'Looking.', used(100, 1)),
        toolCall('read', ask, '', used(100, 1)),
        final('found', used(100, 1)),
      ]),
    )
    .withTools(seen, reader.asTool({ name: 'read', description: 'Reads.' }))
    .build();
  const quick = AgentBuilder.base()
    .withName('quick')
    .withDriver(followingDriver([final('quick answer', used(5, 0.05))]))
    .build();
  return builderWith(
    followingDriver([
      toolCalls(
        [
          { name: 'research', args: ask },
          { name: 'quickly', args: ask },
        ],
        '',
        used(1_000, 10),
      ),
      final('done', used(1_000, 10)),
    ]),
    researcher.asTool({ name: 'research', description: 'Researches.' }),
    quick.asTool({ name: 'quickly', description: 'Answers quickly.' }),
  ).build();
}

describe.each(places)('the traces of nested agents (%s)', (_name, makePlace) => {
  it('open by call at any depth: paused, in another process, and ended', async () => {
    const place = makePlace();
    const ran: string[] = [];
    const first = runtimeOn(place.open(), family('a', ran));
    await first.create({ ...ann, id: 's' });
    const asked = await first.send('s', 'go', waiting);
    const root = await readTrace(first, 's', ann);
    expect(childrenOf(root)).toMatchObject([
      { name: 'research', child: { agent: 'researcher', status: 'paused', steps: 1 } },
      {
        name: 'quickly',
        child: { agent: 'quick', status: 'completed', steps: 1, tokens: 5, cost: 0.05 },
      },
    ]);
    const [research, quickly] = childrenOf(root).map(({ callId }) => callId!);
    const waits = await openIn(first, { callId: research!, step: 1 });
    expect(waits).toMatchObject({
      agent: 'researcher',
      status: 'paused',
      nested: { callId: research, above: [{ agent: 'support', callId: null, step: 1 }] },
      stop: { because: 'file needs approval', action: null },
      pauses: [{ step: 2, kind: 'approval', durationMs: null }],
    });
    expect(waits.steps.map(({ number, type }) => [number, type])).toEqual([
      [1, 'tool_calls'],
      [2, 'waiting'],
    ]);
    expect(waits.steps[1]?.bars[1]).toMatchObject({
      name: 'read',
      state: 'waiting',
      child: { agent: 'reader', status: 'paused', steps: 0 },
    });
    const deep = waits.steps[1]!.bars[1]!.callId!;
    expect(await openIn(first, { callId: deep })).toMatchObject({
      agent: 'reader',
      status: 'paused',
      nested: {
        above: [
          { agent: 'support', callId: null, step: 1 },
          { agent: 'researcher', callId: research, step: 2 },
        ],
      },
      steps: [{ type: 'waiting', bars: [{ kind: 'model' }, { name: 'file', state: 'waiting' }] }],
      stop: { explanation: { actions: [{ kind: 'approve' }] } },
    });
    const ended = await openIn(first, { callId: quickly!, step: 1 });
    expect(ended).toMatchObject({
      status: 'completed',
      steps: [{ number: 1, type: 'final', outcome: { stopReason: 'completed' } }],
      totals: { tokens: { used: 5 }, cost: { used: 0.05 } },
    });
    await first.close();

    const second = runtimeOn(place.open(), family('b', ran));
    await second.approve('s', asked.pendingApprovals[0]!.callId, { ...waiting });
    expect(ran).toEqual(['b']);
    const after = await readTrace(second, 's', ann);
    expect(childrenOf(after)[0]).toMatchObject({
      child: { agent: 'researcher', status: 'completed', steps: 3, tokens: 330, cost: 3.3 },
    });
    const done = await openIn(second, { callId: research!, step: 1 });
    expect(done).toMatchObject({
      status: 'completed',
      hasEarlier: false,
      totals: { steps: { used: 3 } },
    });
    expect(done.steps.map(({ type, cost }) => [type, cost])).toEqual([
      ['tool_calls', 1],
      ['tool_calls', 1.3],
      ['final', 1],
    ]);
    expect(done.pauses).toHaveLength(1);
    expect(done.pauses[0]?.durationMs).not.toBeNull();
    expect((await openIn(second, { callId: deep, step: 1 })).steps).toMatchObject([
      { type: 'tool_calls', bars: [{}, { name: 'file', state: 'ok', answer: 'approved' }] },
      { type: 'final' },
    ]);
  });

  it('open while the agent runs, beside another that ended', async () => {
    const [entered, release] = [gate(), gate()];
    const slow = mockTool('look', async () => {
      entered.open();
      await release.passed;
      return 'seen';
    });
    const runtime = runtimeOn(makePlace().open(), family('a', [], slow));
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', ann);
    await entered.passed;
    const root = await until(async () => {
      const trace = await readTrace(runtime, 's', ann);
      return childrenOf(trace)[1]?.child?.status === 'completed' ? trace : null;
    });
    const [research] = childrenOf(root);
    expect(research).toMatchObject({ state: 'running', child: { status: 'processing', steps: 0 } });
    expect(await openIn(runtime, { callId: research!.callId! })).toMatchObject({
      agent: 'researcher',
      status: 'processing',
      stop: null,
      steps: [{ type: 'running', bars: [{ state: 'ok' }, { name: 'look', state: 'running' }] }],
    });
    release.open();
    await runtime.wait('s', ann);
  });

  it('of an agent that a stop interrupted say so, without an action', async () => {
    const [entered, release] = [gate(), gate()];
    const slow = mockTool('look', async () => {
      entered.open();
      await release.passed;
      return 'seen';
    });
    const runtime = runtimeOn(makePlace().open(), family('a', [], slow));
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', ann);
    await entered.passed;
    const stopped = runtime.stop('s', waiting);
    release.open();
    await stopped;
    const [research] = childrenOf(await readTrace(runtime, 's', ann));
    expect(research?.child?.status).toMatch(/^(?:cancelled|stopped)$/);
    const trace = await openIn(runtime, { callId: research!.callId!, step: 1 });
    expect(trace.status).toMatch(/^(?:cancelled|stopped)$/);
    expect(trace.stop).toMatchObject({ action: null, explanation: { actions: [] } });
  });

  it('are pages of steps, for agents with many of them', async () => {
    const LONG = 130;
    const worker = AgentBuilder.base()
      .withName('worker')
      .withDriver(
        followingDriver([
          ...Array.from({ length: LONG - 1 }, (_, i) => toolCall('look', { i }, '', used(1, 0.01))),
          final('worked', used(1, 0.01)),
        ]),
      )
      .withTools(mockTool('look', 'seen'))
      .withMaxSteps(1_000)
      .build();
    const agent = builderWith(
      followingDriver([toolCall('look'), toolCall('work', ask), toolCall('look'), final('done')]),
      mockTool('look'),
      worker.asTool({ name: 'work', description: 'Works.' }),
    )
      .withMaxSteps(1_000)
      .build();
    const runtime = runtimeOn(makePlace().open(), agent);
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    const [bar] = childrenOf(await readTrace(runtime, 's', ann));
    expect(bar).toMatchObject({ child: { steps: LONG, tokens: LONG } });
    const call = { callId: bar!.callId!, step: 2 };
    const newest = await openIn(runtime, call);
    expect(newest).toMatchObject({ hasEarlier: true, totals: { tokens: { used: LONG } } });
    expect(newest.steps.map(({ number }) => number)).toEqual(
      Array.from({ length: 100 }, (_, i) => LONG - 99 + i),
    );
    const earlier = await readTrace(runtime, 's', { ...ann, call, before: LONG - 99 });
    expect(earlier.steps.map(({ number }) => number)).toEqual(
      Array.from({ length: LONG - 100 }, (_, i) => i + 1),
    );
    expect(earlier).toMatchObject({ hasEarlier: false, status: 'completed' });
    const tail = earlier.steps.at(-1)!;
    expect(tail.at + tail.durationMs).toBeLessThanOrEqual(newest.steps[0]!.at + 0.01);
    expect(tail.bars[1]?.at).toBeGreaterThanOrEqual(tail.at);
  });

  it('are refused for calls without an agent, for other owners, and after a prune', async () => {
    const runtime = runtimeOn(makePlace().open(), family('a', []));
    await runtime.create({ ...ann, id: 's' });
    const asked = await runtime.send('s', 'go', waiting);
    const [bar] = childrenOf(await readTrace(runtime, 's', ann));
    const call = { callId: bar!.callId!, step: 1 };
    const none = await refusal(() => openIn(runtime, { callId: 'none', step: 1 }));
    expect([none.code, none.message]).toEqual([
      'invalid_option',
      'Session s has no log of an agent behind call "none" in step 1. It was pruned, or the call runs no agent.',
    ]);
    expect(await codeOf(() => readTrace(runtime, 's', { owner: 'eve', call }))).toBe(
      'session_not_found',
    );
    expect(await codeOf(() => runtime.steps('s', { owner: 'eve', agentId: 'x' }))).toBe(
      'session_not_found',
    );
    expect(await codeOf(() => runtime.steps('s', { ...ann, agentId: '' }))).toBe('invalid_option');
    expect(await codeOf(() => openIn(runtime, { callId: 'x', step: 0 }))).toBe('invalid_option');
    const later = { olderThan: new Date(Date.now() + 60_000) };
    await runtime.approve('s', asked.pendingApprovals[0]!.callId, waiting);
    expect((await openIn(runtime, call)).steps).toHaveLength(3);
    await runtime.prune(later);
    expect(childrenOf(await readTrace(runtime, 's', ann))).toEqual([]);
    expect((await refusal(() => openIn(runtime, call))).message).toContain('It was pruned');
  });

  it('have no secrets, also not those that only the nested agent hides', async () => {
    const inner = AgentBuilder.base()
      .withName('inner')
      .withDriver(followingDriver([toolCall('look', { key: 'marmalade' }), final('marmalade')]))
      .withTools(
        mockTool('look', () => {
          throw new Error('no marmalade');
        }),
      )
      .withRedactor(createRedactor({ patterns: [/marmalade/g] }))
      .build();
    const agent = builderWith(
      followingDriver([toolCall('ask', ask), final('done')]),
      inner.asTool({ name: 'ask', description: 'Asks.' }),
    ).build();
    const runtime = runtimeOn(makePlace().open(), agent);
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    const [bar] = childrenOf(await readTrace(runtime, 's', ann));
    const trace = await openIn(runtime, { callId: bar!.callId!, step: 1 });
    expect(trace.steps[0]?.bars[1]).toMatchObject({ state: 'error' });
    expect(JSON.stringify(trace)).not.toContain('marmalade');
    const [step] = (await runtime.steps('s', { ...ann, agentId: 'none' })).items;
    expect(step).toBeUndefined();
  });
});
