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

it('an edit with the mark of a hidden part is refused, and says where', async () => {
  const pay = gated();
  const agent = agentWith([toolCall('pay', secret), final('done')], pay);
  const paused = await agent.run('go');
  const masked = { ...secret, password: '[redacted]', role: 'guest' };
  const error = await refusal(() =>
    agent.resume(paused, { approvals: { call_1: { approve: true, args: masked } } }),
  );
  expect(error.code).toBe('invalid_approval');
  expect(error.message).toBe(
    'The edited arguments for pay (call_1) do not fit: at "/password" is the mark of a part that is hidden from view, ' +
      'and not what the call has there. Write the real value in its place, or approve without an edit to run the ' +
      'call as it is. The call still waits.',
  );
  expect(pay.calls).toEqual([]);
  const whole = { ...secret, role: 'guest' };
  await agent.resume(paused, { approvals: { call_1: { approve: true, args: whole } } });
  expect(pay.calls).toEqual([whole]);
});

it('a place is named in letters that can be seen, and not at any length', async () => {
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

it('also for a call of a nested agent, with what its own redactor hides', async () => {
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
  expect(error.message).toContain('at "/iban"');
  expect(pay.calls).toEqual([]);
});
