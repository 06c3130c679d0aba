import { defineTool } from 'onward';
import { agentServer } from 'onward/server';
import { ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { ann, builderWith, followingDriver, memoryPlace, runtimeOn } from '../setup/sessions.ts';
import { asking, owner } from './setup.ts';

it('explains to the approver why an answer cannot be remembered, and runs nothing', async () => {
  const tools = Array.from({ length: 101 }, (_, i) =>
    defineTool({
      name: `t${i}`,
      description: 'Does it.',
      needsApproval: true,
      execute: () => 'ok',
    }),
  );
  const calls = tools.map(({ name }) => ({ name }));
  const agent = builderWith(
    followingDriver([
      ScenarioStep.toolCalls(calls.slice(0, 100)),
      ScenarioStep.toolCalls(calls.slice(100)),
      ScenarioStep.final('done'),
    ]),
    ...tools,
  ).build();
  const runtime = runtimeOn(memoryPlace().open(), agent);
  const ask = asking(agentServer({ runtime, owner, rateLimit: null }));
  await ask('POST /api/sessions', { body: { id: 's', message: 'go' } });
  const { pendingApprovals } = await runtime.wait('s', ann);
  await runtime.resume('s', {
    ...ann,
    approvals: Object.fromEntries(
      pendingApprovals.map(({ callId }) => [callId, { approve: true, remember: 'session' }]),
    ),
    wait: true,
  });
  const [last] = (await runtime.get('s', ann)).pendingApprovals;
  const line = `POST /api/sessions/s/approvals/${last?.callId}`;
  const refused = await ask(line, { body: { decision: 'approve', remember: 'session' } });
  expect([refused.status, refused.body.error.code]).toEqual([422, 'invalid_approval']);
  expect(refused.body.error.message).toContain(
    'A session remembers at most 100 approvals. This one remembers 100, so the answer',
  );
  expect((await ask('GET /api/sessions/s/rules')).body.rules).toHaveLength(100);
  expect((await ask(line, { body: { decision: 'approve' } })).status).toBe(202);
  expect(await runtime.wait('s', ann)).toMatchObject({ status: 'completed', output: 'done' });
});
