import { AgentBuilder, type Redactor } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { agentWith, gated } from './setup/approvals.ts';
import { ask, asTool, builder } from './setup/nested-agents.ts';
import { refusal } from './setup/sessions.ts';

const { toolCall, final } = ScenarioStep;
const stars: Redactor = {
  text: (text) => text.replaceAll('DE89', '***'),
  value: <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('DE89', '***')) as T,
  isSecretKey: () => false,
};
const secret = { user: 'bob', password: 'real-password-1', role: 'admin' };

it('rejects an edit that contains a redaction mark and names its position', async () => {
  const pay = gated();
  const agent = agentWith([toolCall('pay', secret), final('done')], pay);
  const paused = await agent.run('go');
  const masked = { ...secret, password: '[redacted]', role: 'guest' };
  const error = await refusal(() =>
    agent.resume(paused, { approvals: { call_1: { approve: true, args: masked } } }),
  );
  expect(error.code).toBe('invalid_approval');
  expect(error.message).toBe(
    'The edited arguments for pay (call_1) do not fit: "/password" holds the placeholder of a redacted value, ' +
      'which is not the value of the call. Write the real value, or approve without an edit to run the ' +
      'call unchanged. The call still waits.',
  );
  expect(pay.calls).toEqual([]);
  const whole = { ...secret, role: 'guest' };
  await agent.resume(paused, { approvals: { call_1: { approve: true, args: whole } } });
  expect(pay.calls).toEqual([whole]);
});

it('escapes and truncates the position in the error', async () => {
  const pay = gated();
  const agent = agentWith([toolCall('pay', {}), final('done')], pay);
  const paused = await agent.run('go');
  const args = { [`a\u202eb${'x'.repeat(5_000)}`]: '[redacted]' };
  const error = await refusal(() =>
    agent.resume(paused, { approvals: { call_1: { approve: true, args } } }),
  );
  expect(error.message).toContain('/a\\\\u202ebxxx');
  expect(error.message.length).toBeLessThan(700);
});

it('rejects an edit of a nested agent that contains the mark of its own redactor', async () => {
  const pay = gated();
  const child = AgentBuilder.base()
    .withName('child')
    .withDriver(DeterministicDriver.fromSteps(toolCall('pay', { iban: 'DE89' }), final('child')))
    .withTools(pay)
    .withRedactor(stars)
    .build();
  const agent = builder('root', [toolCall('child', ask), final('done')], asTool(child, 'child'));
  const root = agent.build();
  const paused = await root.run('go');
  const { callId } = paused.pendingApprovals[0]!;
  const approvals = { [callId]: { approve: true, args: { iban: '***' } } } as const;
  const error = await refusal(() => root.resume(paused, { approvals }));
  expect(error).toMatchObject({ code: 'invalid_approval' });
  expect(error.message).toContain('"/iban" holds the placeholder');
  expect(pay.calls).toEqual([]);
});
