import { defineTool } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  agentWith,
  ann,
  builderWith,
  codeOf,
  followingDriver,
  gate,
  isSound,
  places,
  runtimeOn,
  waiting,
} from '../setup/sessions.ts';

describe.each(places)('ids of executions (%s)', (_name, makePlace) => {
  it('a message that is queued twice under one id is carried out once', async () => {
    const hold = gate();
    const slow = defineTool({
      name: 'slow',
      description: 'Waits.',
      parameters: { type: 'object' },
      execute: async () => {
        await hold.passed;
        return 'done';
      },
    });
    const steps = [
      [ScenarioStep.toolCall('slow', {}), ScenarioStep.final('one')],
      [ScenarioStep.final('two')],
      [ScenarioStep.final('three')],
    ];
    const runtime = runtimeOn(
      makePlace().open(),
      builderWith(followingDriver(...steps), slow).build(),
    );
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'a', { ...ann, executionId: 'e1' });
    const queued = { ...ann, whenBusy: 'queue' } as const;
    await runtime.send('s', 'b', { ...queued, executionId: 'e2' });
    await runtime.send('s', 'c', { ...queued, executionId: 'e3' });
    await runtime.send('s', 'b', { ...queued, executionId: 'e2' });
    hold.open();
    expect(await runtime.wait('s', ann)).toMatchObject({
      status: 'completed',
      output: 'three',
      messageCount: 8,
    });
    expect(await runtime.send('s', 'b', { ...waiting, executionId: 'e2' })).toMatchObject({
      messageCount: 8,
    });
    expect(await codeOf(() => runtime.send('s', 'c', { ...ann, executionId: 'e2' }))).toBe(
      'conflict',
    );
    await isSound(runtime, 's');
  });

  it('a tool gets another key in a fork, even for the same call', async () => {
    const keys: string[] = [];
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: { type: 'object' },
      execute: (_args, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        return 'paid';
      },
    });
    const turn = [
      ScenarioStep.toolCall('pay', {}),
      ScenarioStep.toolCall('pay', {}),
      ScenarioStep.final('done'),
    ];
    const runtime = runtimeOn(makePlace().open(), builderWith(followingDriver(turn), pay).build());
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'pay', waiting);
    const { id } = await runtime.fork('s', { ...ann, atStep: 1 });
    expect(await runtime.resume(id, waiting)).toMatchObject({
      status: 'completed',
      output: 'done',
    });
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(3);
  });

  it('a waiting caller gets runtime_closed when the runtime closes', async () => {
    const hold = gate();
    const slow = defineTool({
      name: 'slow',
      description: 'Waits.',
      parameters: { type: 'object' },
      execute: () => hold.passed,
    });
    const agent = agentWith([ScenarioStep.toolCall('slow', {}), ScenarioStep.final('one')], slow);
    const runtime = runtimeOn(makePlace().open(), agent);
    await runtime.create({ ...ann, id: 's' });
    const sent = codeOf(() => runtime.send('s', 'a', waiting));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const closed = runtime.close();
    hold.open();
    await closed;
    expect(await sent).toBe('runtime_closed');
    expect(await codeOf(() => runtime.wait('other', ann))).toBe('session_not_found');
  });
});
