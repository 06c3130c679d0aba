import { AgentBuilder } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { ann, followingDriver, memoryPlace, runtimeOn, waiting } from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;

describe('the record of a run', () => {
  it('counts calls of tools that do not exist, but not under the names that the model made up', async () => {
    const store = memoryPlace().open();
    const steps = [toolCall('look', {}), toolCall('my_password_is_swordfish', {}), final('done')];
    const agent = AgentBuilder.base()
      .withName('shop')
      .withTools(mockTool('look', { ok: true }))
      .withDriver(followingDriver(steps))
      .build();
    const runtime = runtimeOn(store, agent);
    const { id } = await runtime.create(ann);
    await runtime.send(id, 'hi', waiting);
    const query = { from: '0', before: '9', limit: 5 };
    const [run, ...others] = await store.runs({ ...ann, ...query });
    expect(others).toEqual([]);
    expect(run).toMatchObject({ sessionId: id, errors: 1 });
    expect(JSON.parse(run!.body)).toMatchObject({ tools: { look: [1, 0] } });
    expect(JSON.stringify(run)).not.toContain('swordfish');
    expect(await store.runs({ owner: 'bob', ...query })).toEqual([]);
  });
});
