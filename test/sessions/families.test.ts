import { AgentBuilder } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { stores } from '../setup/four-stores.ts';
import { builderWith, followingDriver, runtimeOn } from '../setup/sessions.ts';
import { fresh } from '../../src/testing/store-contract/store-harness.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const ask = { input: 'go' };

describe.each(stores)('a family in a session (%s)', (_name, open) => {
  it('D79: its limit is enforced in any process, and a grant of the owner applies to all agents', async () => {
    const store = open();
    let calls = 0;
    const make = () => {
      const driver = followingDriver(
        Array.from({ length: 9 }, () => toolCall('look', {}, 'Seen.', { usage: { total: 100 } })),
      );
      const helper = AgentBuilder.base()
        .withName('helper')
        .withDriver({ ...driver, infer: (...given) => (calls++, driver.infer(...given)) })
        .withTools(mockTool('look'))
        .build();
      const step = toolCalls(
        [
          { name: 'ask', args: ask },
          { name: 'ask', args: ask },
        ],
        '',
        { usage: { total: 100 } },
      );
      const script = [step, step, step, step];
      return builderWith(followingDriver(script, [final('hello')]))
        .withTools(helper.asTool({ name: 'ask', description: 'Asks.' }))
        .withMaxTokens(500)
        .build();
    };
    const who = { owner: fresh('own') };
    const first = runtimeOn(store, make());
    const { id } = await first.create(who);
    const stopped = await first.send(id, 'Go.', { ...who, wait: true });
    expect(stopped).toMatchObject({ status: 'stopped', stopReason: 'token_limit' });
    expect(calls).toBe(4);
    expect(stopped.usage.total).toBe(500);
    expect((await first.state(id, who)).execution.family).toEqual([
      { agent: 'helper', steps: 4, tokens: 400, cost: null },
    ]);
    // 0.1.0 would drop the usage per agent
    expect((await store.find(id))?.requires).toBe(2);

    const second = runtimeOn(store, make());
    const more = await second.resume(id, { ...who, grant: { tokens: 300 }, wait: true });
    expect(more.stopReason).toBe('token_limit');
    expect(more.usage.total).toBe(800);
    expect(calls).toBe(6);
    expect(more.outcome?.evaluations.find(({ decision }) => decision === 'forbid')?.reason).toBe(
      '800 of 800 tokens (500 + 300 granted) used while work is still pending, 600 of them by helper',
    );

    const next = await second.send(id, 'Hi.', { ...who, wait: true });
    expect(next).toMatchObject({ status: 'completed', output: 'hello' });
    expect((await store.find(id))?.requires).toBe(1);
  });
});
