import { ErrorPolicy } from 'onward';
import { memoryStore } from 'onward/stores/memory';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { ann, builderWith, followingDriver, runtimeOn, waiting } from '../setup/sessions.ts';

const { toolCall, final, error } = ScenarioStep;
const busy = error({ type: 'rate_limit', message: '429' });
const policy = ErrorPolicy.production().withMaxRetries(1).withBackoff({ initialMs: 0 });

describe('failure counts of a session', () => {
  it('require a release that reads them only if one count cannot hold them', async () => {
    const store = memoryStore();
    const driver = followingDriver(
      [toolCall('breaks'), toolCall('breaks')],
      [toolCall('breaks'), busy, busy],
      [final('fine')],
    );
    const agent = builderWith(driver, mockTool('breaks', new Error('offline')))
      .withErrorPolicy(policy)
      .build();
    const runtime = runtimeOn(store, agent);
    const { id } = await runtime.create(ann);
    const seen: unknown[] = [];
    for (const text of ['one', 'two', 'three']) {
      const { status } = await runtime.send(id, text, { ...waiting, ...ann });
      seen.push([status, (await store.find(id))?.requires]);
    }
    expect(seen).toEqual([
      ['failed', 1],
      ['failed', 2],
      ['completed', 1],
    ]);
  });

  it('continue in another process after a grant', async () => {
    const store = memoryStore();
    const script = [toolCall('breaks'), toolCall('breaks'), final('done')];
    const agent = () =>
      builderWith(followingDriver(script), mockTool('breaks', new Error('offline')))
        .withErrorPolicy(policy)
        .build();
    const first = runtimeOn(store, agent());
    const { id } = await first.create(ann);
    expect(await first.send(id, 'go', { ...waiting, ...ann })).toMatchObject({
      status: 'failed',
      stopReason: 'retry_limit',
    });
    await first.close();
    const second = runtimeOn(store, agent());
    const done = await second.resume(id, { ...ann, wait: true, grant: { retries: 1 } });
    expect(done).toMatchObject({ status: 'completed' });
  });
});
