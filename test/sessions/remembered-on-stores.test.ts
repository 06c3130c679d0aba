import { uuid } from '../../src/ids.ts';
import { mockTool, ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { stores } from '../setup/four-stores.ts';
import { gated, paused } from '../setup/session-moments.ts';
import { ann, builderWith, followingDriver, gate, runtimeOn } from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;

it.each(stores)('%s keeps, recovers and revokes a remembered approval', async (_name, open) => {
  const store = open();
  const id = `s-${uuid()}`;
  const [entered, release] = [gate(), gate()];
  const slow = mockTool('slow', async () => {
    entered.open();
    await release.passed;
    return 'ok';
  });
  const pay = gated();
  const turns = [
    [toolCall('pay', { n: 1 }), final('one')],
    [toolCall('pay', { n: 2 }), toolCall('slow'), toolCall('pay', { n: 3 }), final('two')],
  ];
  const agent = () => builderWith(followingDriver(...turns), pay, slow).build();
  const first = runtimeOn({ ...store }, agent());
  const [call] = (await paused(first, id)).pendingApprovals;
  await first.approve(id, call!.callId, { ...ann, remember: 'session', wait: true });
  await first.close();

  const second = runtimeOn({ ...store }, agent());
  await second.send(id, 'again', ann);
  await entered.passed;
  expect(pay.calls).toEqual([{ n: 1 }, { n: 2 }]);
  const client = runtimeOn({ ...store }, agent(), { work: false });
  const [rule] = await client.rules(id, ann);
  await client.revokeRule(id, rule!.id, ann);
  expect(await client.rules(id, ann)).toEqual([]);
  release.open();
  const waiting = await second.wait(id, ann);
  expect(waiting.pendingApprovals).toMatchObject([{ tool: 'pay', args: { n: 3 } }]);
  await second.approve(id, waiting.pendingApprovals[0]!.callId, { ...ann, wait: true });
  expect(await second.wait(id, ann)).toMatchObject({ status: 'completed', output: 'two' });
  expect((await second.state(id, ann)).approvalRules).toEqual([]);
});
