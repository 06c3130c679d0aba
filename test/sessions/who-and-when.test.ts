import { AgentBuilder, AgentState } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { stopNote, stopText } from '../../src/sessions/stop-note.ts';
import { ended, gated, held, paused } from '../setup/session-moments.ts';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  places,
  runtimeOn,
} from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);

describe.each(places)('a stop records the requester and the time (%s)', (_name, makePlace) => {
  const script = () => followingDriver([toolCall('slow'), final('done')]);

  it('for a running session, from another process', async () => {
    const place = makePlace();
    const { tool, began } = held();
    const make = () => builderWith(script(), tool).build();
    const a = runtimeOn(place.open(), make(), { lease: { signalMs: 20 } });
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await began();
    await clientOn(place.open(), make()).stop('s', { ...ann, reason: 'too slow', by: 'ops@shop' });
    const session = await ended(a, 's');
    expect(session).toMatchObject({ stopReason: 'user_requested' });
    expect(session.outcome?.decisive?.reason).toBe('too slow');
    expect((await a.state('s', ann)).execution.stopRequest).toEqual({
      by: 'user',
      reason: 'too slow',
      requestedBy: 'ops@shop',
      at: time,
    });
  });

  it('for a paused session, by default with the owner', async () => {
    const agent = builderWith(followingDriver([toolCall('pay')]), gated()).build();
    const runtime = runtimeOn(makePlace().open(), agent);
    await paused(runtime, 's');
    await runtime.stop('s', { ...ann, wait: true });
    expect((await runtime.state('s', ann)).execution.stopRequest).toEqual({
      by: 'user',
      reason: 'a stop was requested',
      requestedBy: 'ann',
      at: time,
    });
  });
});

describe('without a session', () => {
  const waitingAgent = () =>
    AgentBuilder.base()
      .withModel(DeterministicDriver.fromSteps(toolCall('pay')))
      .withTools(gated())
      .build();

  it('a stop and a grant record the given person', async () => {
    const agent = waitingAgent();
    const stopped = agent.stop(await agent.run('go'), { reason: 'enough', by: 'ann' });
    expect(stopped.execution.stopRequest).toEqual({
      by: 'user',
      reason: 'enough',
      requestedBy: 'ann',
      at: time,
    });
    const next = AgentBuilder.base()
      .withModel(DeterministicDriver.fromSteps(toolCall('look'), toolCall('look'), final('done')))
      .withTools(mockTool('look'))
      .withMaxSteps(1)
      .build();
    const limited = await next.run('go');
    expect(limited.execution.grantLog).toBeUndefined();
    const once = await next.resume(limited, { grant: { steps: 1 }, by: 'ann' });
    const twice = await next.resume(JSON.parse(JSON.stringify(once)), { grant: { steps: 1 } });
    expect(twice.execution.grantLog).toEqual([
      { grant: { steps: 1 }, by: 'ann', at: time, authority: 'operator' },
      { grant: { steps: 1 }, by: null, at: time, authority: 'operator' },
    ]);
    expect(Object.isFrozen(twice.execution.grantLog?.[0]?.grant)).toBe(true);
  });

  it('the grant log stays short after many small grants, and their sum is kept', async () => {
    const agent = waitingAgent();
    let state = await agent.run('go');
    for (let i = 0; i < 200; i++)
      state = await agent.resume(state, { grant: { tokens: 0.5 }, by: `u${i % 2}` });
    const { grants, grantLog = [] } = AgentState.from(state.toJSON()).execution;
    expect(grants).toEqual({ tokens: 100 });
    expect(grantLog.length).toBeLessThanOrEqual(50);
    expect(grantLog.reduce((sum, { grant }) => sum + (grant.tokens ?? 0), 0)).toBe(100);
  });
});

describe('the stored text of a stop request', () => {
  it.each([
    { reason: 'too slow', by: 'ann', at: '2026-01-16T12:00:00.000Z' },
    { reason: '', by: null, at: null },
    { reason: '{"by":"mallory"}', by: 'ann "the" boss', at: null },
  ])('restores %j', (note) => {
    expect(stopNote(stopText(note))).toEqual(note);
  });

  it('does not let a reason name another person, and reads a bare text as a reason', () => {
    const forged = stopText({ reason: 'x\u001f{"by":"mallory"}', by: 'ann', at: null });
    expect(stopNote(forged)).toMatchObject({ by: 'ann' });
    expect(stopNote('enough')).toEqual({ reason: 'enough', by: null, at: null });
    expect(stopNote('odd\u001f[')).toEqual({ reason: 'odd', by: null, at: null });
  });
});
