import { AgentBuilder, defineTool, type Agent, type SessionRuntime } from 'onward';
import type { InferenceDriver } from 'onward/drivers';
import { collectExport, exportSession } from 'onward/exports';
import { replay, replaySession, replaySessions } from 'onward/replay';
import { agentServer } from 'onward/server';
import { describe, expect, it } from 'vitest';
import { RowReader } from '../../src/sessions/row-reader.ts';
import { feedsOf } from '../../src/sessions/feed/feeds-of.ts';
import { asking, owner as ownerHook } from '../server/setup.ts';
import { runtimeOn, sqlitePlace } from '../setup/sessions.ts';

const ann = { owner: 'ann' };

/** Calls `look` as often as the last user message says, then answers. Each call takes 100 tokens and $0.01. */
const counting: InferenceDriver = {
  name: 'counting',
  async infer(request) {
    const messages = [...request.messages];
    const place = messages.findLastIndex(({ role }) => role === 'user');
    const wanted = Number(messages[place]?.content);
    const done = messages.slice(place).filter(({ role }) => role === 'tool').length;
    const usage = { input: 90, output: 10, total: 100, cachedInput: 0, reasoning: 0 };
    if (done >= wanted)
      return { content: 'done', toolCalls: [], finishReason: 'stop', usage, cost: 0.01 };
    const toolCalls = [{ id: `c${place}-${done}`, name: 'look', args: { done } }];
    return { content: '', toolCalls, finishReason: 'tool_calls', usage, cost: 0.01 };
  },
};

const agentWith = (maxSteps: number, needsApproval = false): Agent =>
  AgentBuilder.base()
    .withName('counter')
    .withDriver(counting)
    .withMaxSteps(maxSteps)
    .withTools(
      defineTool({
        name: 'look',
        description: 'Looks.',
        parameters: { type: 'object' },
        needsApproval,
        execute: () => 'found',
      }),
    )
    .build();

async function ran(runtime: SessionRuntime, id: string, ...messages: string[]): Promise<void> {
  await runtime.create({ ...ann, id });
  for (const message of messages) {
    await runtime.send(id, message, ann);
    await runtime.wait(id, ann);
  }
}

describe('replays of sessions (D86)', () => {
  it('judges every run of a session, the earlier ones too', async () => {
    const runtime = runtimeOn(sqlitePlace().open(), agentWith(10));
    await ran(runtime, 's', '3', '1', '4');
    const ids = new Set((await runtime.steps('s', ann)).items.map((step) => step.executionId));
    const found = [];
    for (const executionId of ids)
      found.push(await replaySession(runtime, 's', { ...ann, executionId }));
    expect(
      found.map(({ steps, incomplete, change }) => [steps.length, change, incomplete]),
    ).toEqual([
      [4, 'same', []],
      [2, 'same', []],
      [5, 'same', []],
    ]);
    expect(await replaySession(runtime, 's', { ...ann, limits: { maxSteps: 3 } })).toMatchObject({
      sessionId: 's',
      agent: 'counter',
      change: 'cut_short',
      stopsAt: 3,
      saved: { steps: 2, tokens: 200 },
      used: { steps: 5, tokens: 500 },
      recordedLimits: { maxSteps: 10, maxTokens: null, seconds: 300 },
    });
    const [first = ''] = ids;
    const earlier = { ...ann, executionId: first, limits: { maxTokens: 150 } };
    expect(await replaySession(runtime, 's', earlier)).toMatchObject({ stopsAt: 2 });
  });

  it('knows what was granted when, in the session and in its fork', async () => {
    const runtime = runtimeOn(sqlitePlace().open(), agentWith(2));
    await ran(runtime, 's', '4');
    await runtime.resume('s', { ...ann, grant: { steps: 2 }, by: 'ann' });
    await runtime.wait('s', ann);
    await runtime.resume('s', { ...ann, grant: { steps: 5 } });
    await runtime.wait('s', ann);
    const whole = await replaySession(runtime, 's', ann);
    expect(whole).toMatchObject({ change: 'same', stopsAt: 5, incomplete: [] });
    await runtime.send('s', '1', ann);
    await runtime.wait('s', ann);
    // the runs of an ended execution are in its last mark
    const { executionId } = whole;
    const again = await replaySession(runtime, 's', { ...ann, executionId });
    expect(again).toMatchObject({ change: 'same', stopsAt: 5, incomplete: [] });
    const fork = await runtime.fork('s', { ...ann, atStep: 4, id: 'f' });
    const forked = await replaySession(runtime, fork.id, ann);
    expect(forked).toMatchObject({ change: 'same', stopsAt: 4, incomplete: [] });
    expect(
      await replaySession(runtime, 's', { ...ann, executionId, limits: { maxSteps: 1 } }),
    ).toMatchObject({
      stopsAt: 1,
    });
  });

  it('marks hold the runs only where an execution stopped, so that rows stay small', async () => {
    const runtime = runtimeOn(sqlitePlace().open(), agentWith(10));
    await ran(runtime, 's', '4');
    const { lookup } = feedsOf(runtime);
    const row = await lookup.owned('s', 'ann');
    const reader = new RowReader(lookup.store, row);
    const rows = await lookup.store.steps('s', '', {});
    const marks = await reader.values<{ execution: object }>(
      rows.map(({ mark }) => ({ body: mark })),
    );
    expect(marks.map(({ execution }) => 'runs' in execution)).toEqual([
      false,
      false,
      false,
      false,
      true,
    ]);
    const steps = await reader.values<object>(rows);
    expect(steps.map((step) => 'policy' in step)).toEqual([true, false, false, false, false]);
  });

  it('goes over pauses for approval', async () => {
    const runtime = runtimeOn(sqlitePlace().open(), agentWith(10, true));
    await ran(runtime, 's', '2');
    const waiting = await replaySession(runtime, 's', ann).catch((error: unknown) => error);
    expect(String(waiting)).toContain('no recorded step');
    for (let calls = 0; calls < 2; calls++) {
      await runtime.approveAll('s', ann);
      await runtime.wait('s', ann);
    }
    const result = await replaySession(runtime, 's', ann);
    expect(result).toMatchObject({ change: 'same', stopsAt: 3, incomplete: [] });
  });

  it('judges the ended sessions of one owner, page by page', async () => {
    const runtime = runtimeOn(sqlitePlace().open(), agentWith(10));
    for (let n = 1; n <= 7; n++) await ran(runtime, `s${n}`, String(n));
    await runtime.create({ owner: 'bob', id: 'bobs' });
    await runtime.send('bobs', '9', { owner: 'bob' });
    await runtime.wait('bobs', { owner: 'bob' });
    await runtime.create({ ...ann, id: 'unused' });
    const limits = { maxSteps: 4 };
    const first = await replaySessions(runtime, { ...ann, limits, limit: 4 });
    const rest = await replaySessions(runtime, { ...ann, limits, cursor: first.cursor ?? '' });
    const all = [...first.replays, ...rest.replays];
    expect(rest.cursor).toBeNull();
    expect(all.map(({ sessionId, change }) => `${sessionId} ${change}`).toSorted()).toEqual([
      's1 same',
      's2 same',
      's3 same',
      's4 cut_short',
      's5 cut_short',
      's6 cut_short',
      's7 cut_short',
    ]);
    const none = await replaySessions(runtime, { ...ann, agent: 'other' });
    expect(none).toEqual({ replays: [], cursor: null });
  });

  it('is an HTTP route of the owner alone', async () => {
    const runtime = runtimeOn(sqlitePlace().open(), agentWith(10));
    await ran(runtime, 's', '3');
    const ask = asking(agentServer({ runtime, owner: ownerHook, rateLimit: null }));
    const one = await ask('GET /api/sessions/s/replay?maxSteps=2');
    expect(one.body).toMatchObject({
      change: 'cut_short',
      stopsAt: 2,
      stepCount: 4,
      status: 'completed',
      saved: { steps: 2, tokens: 200, cost: 0.02 },
      replayed: { stopReason: 'steps_limit', resolvedBy: 'StepsLimit' },
      steps: [
        { number: 1, recorded: { shouldContinue: true }, replayed: { shouldContinue: true } },
        { number: 2, recorded: { shouldContinue: true }, replayed: { shouldContinue: false } },
        { number: 3, replayed: null },
        { number: 4, recorded: { stopReason: 'completed' }, replayed: null },
      ],
    });
    const many = await ask('GET /api/replays?maxTokens=250&errorPolicy=production');
    expect(many.body).toMatchObject({ cursor: null, replays: [{ sessionId: 's', stopsAt: 3 }] });
    expect(many.body.replays[0]).not.toHaveProperty('steps');
    expect((await ask('GET /api/replays', { as: 'bob' })).body).toEqual({
      replays: [],
      cursor: null,
    });
    expect((await ask('GET /api/sessions/s/replay', { as: 'bob' })).status).toBe(404);
    for (const bad of [
      'maxSteps=0',
      'maxSteps=1.5',
      'maxCost=-1',
      'errorPolicy=none',
      'execution=%00',
    ])
      expect((await ask(`GET /api/sessions/s/replay?${bad}`)).status).toBe(400);
    expect((await ask('GET /api/sessions/s/replay?execution=other')).status).toBe(400);
  });

  it('reads the export of a session', async () => {
    const runtime = runtimeOn(sqlitePlace().open(), agentWith(10));
    await ran(runtime, 's', '2', '3');
    const exported = await collectExport(exportSession(runtime, 's', ann));
    expect(replay(exported)).toMatchObject({ change: 'same', stopsAt: 4, incomplete: [] });
    const executionId = exported.steps[0]?.step.executionId ?? '';
    expect(replay(exported, { executionId, limits: { maxSteps: 1 } })).toMatchObject({
      stopsAt: 1,
      incomplete: [],
    });
  });
});
