import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { hostileIds, shownId, usableId } from '../setup/hostile-ids.ts';
import { ann } from '../setup/sessions.ts';
import { setup } from './setup.ts';

const { final, toolCalls } = ScenarioStep;
const named = hostileIds.map((id) => ({ id, title: shownId(id) }));

async function paused(id: string) {
  const calls = [
    { name: 'remove', id, args: { article: 'odd' } },
    { name: 'remove', id: 'args', args: { article: 'other' } },
  ];
  const world = setup({ turns: [[toolCalls(calls), final('done')]] });
  await world.ask('POST /api/sessions', { body: { id: 's', message: 'go' } });
  await world.runtime.wait('s', ann);
  const { body } = await world.ask('GET /api/sessions/s');
  const [odd, other] = body.pendingApprovals as { callId: string; args: object }[];
  expect(odd!.callId).toMatch(usableId);
  return { ...world, odd: odd!.callId, other: other!.callId };
}

describe.each(named)('D90: a call whose id is $title', ({ id }) => {
  it('is approved by its route, and no other call runs', async () => {
    const { ask, runtime, odd, other } = await paused(id);
    const path = `/api/sessions/s/approvals/${encodeURIComponent(odd)}`;
    const args = { article: 'edited' };
    const said = await ask(`POST ${path}`, { body: { decision: 'approve', args } });
    expect(said.status).toBe(202);
    await runtime.wait('s', ann);
    const { body } = await ask('GET /api/sessions/s');
    expect(body.pendingApprovals).toMatchObject([{ callId: other, args: { article: 'other' } }]);
    const state = await runtime.state('s', ann);
    expect(state.currentStep?.results).toMatchObject([{ callId: odd, value: 'removed "edited"' }]);
  });

  it('is answered by a resume', async () => {
    const { ask, runtime, odd, other } = await paused(id);
    const approvals = Object.fromEntries([
      [odd, { deny: 'no' }],
      [other, { approve: true }],
    ]);
    const said = await ask('POST /api/sessions/s/resume', { body: { approvals } });
    expect(said.status).toBe(202);
    await runtime.wait('s', ann);
    const { body } = await ask('GET /api/sessions/s');
    expect(body).toMatchObject({ status: 'completed', pendingApprovals: [] });
    const [step] = (await runtime.steps('s', ann)).items;
    expect(step?.results.map(({ kind }) => kind)).toEqual(['denied', 'ok']);
  });
});
