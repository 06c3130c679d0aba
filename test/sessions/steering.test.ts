import { ErrorPolicy } from 'onward';
import { readTrace } from 'onward/server';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  ann,
  builderWith,
  followingDriver,
  receiving,
  isSound,
  places,
  runtimeOn,
  takesAnotherTurn,
} from '../setup/sessions.ts';
import { ended, held } from '../setup/session-moments.ts';
import type { PrepareStep } from '../../src/agent/prepare-step.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe.each(places)('steering in a session (%s)', (_name, makePlace) => {
  it('a call that was not offered does not run in the process that takes over either', async () => {
    const place = makePlace();
    const { tool: slow, began } = held();
    const drop = mockTool('drop', 'dropped');
    // more calls than run at the same time: the last one is still open when the process ends
    const calls = [...Array.from({ length: 8 }, () => ({ name: 'slow' })), { name: 'drop' }];
    const driver = followingDriver([toolCalls(calls), final('done')]);
    const agent = (prepareStep: PrepareStep) =>
      builderWith(driver, slow, drop)
        .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
        .withPrepareStep(prepareStep as never)
        .build();
    const a = runtimeOn(
      place.open(),
      agent(() => ({ activeTools: ['slow'] })),
    );
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await began();
    await a.close({ graceMs: 0 });

    const b = runtimeOn(
      place.open(),
      agent(() => undefined),
    );
    expect(await b.recover()).toBe(1);
    await ended(b, 's');
    expect(drop.calls).toEqual([]);
    const [first] = (await b.steps('s', ann)).items;
    expect(first?.results.at(-1)).toMatchObject({
      kind: 'error',
      error: { type: 'validation', code: 'unknown_tool' },
    });
    expect(first?.steering).toMatchObject({ tools: { names: ['slow'] } });
    await isSound(b, 's');
    await takesAnotherTurn(place, 's');
  });

  it('a step that was dropped is prepared again by the process that takes over', async () => {
    const place = makePlace();
    const entered: number[] = [];
    let isHanging = true;
    const agent = () =>
      builderWith(followingDriver([toolCall('look'), final('done')]), mockTool('look', 'seen'))
        .withPrepareStep(({ stepNumber }) => {
          entered.push(stepNumber);
          return isHanging ? new Promise(() => {}) : undefined;
        })
        .build();
    const a = runtimeOn(place.open(), agent());
    await a.create({ ...ann, id: 's' });
    const received = receiving(a);
    await a.send('s', 'go', ann);
    await expect.poll(() => entered).toEqual([1]);
    await a.close({ graceMs: 0 });
    expect(received.at(-1)!.event).toMatchObject({ type: 'AgentPaused', kind: 'handover' });
    isHanging = false;
    const b = runtimeOn(place.open(), agent());
    await b.recover();
    expect(await ended(b, 's')).toMatchObject({ status: 'completed', output: 'done' });
    expect(entered).toEqual([1, 1, 2]);
  });

  it('the trace shows what each step sent', async () => {
    const place = makePlace();
    const driver = followingDriver([toolCall('look'), final('done')]);
    const agent = builderWith(driver, mockTool('look', 'seen'), mockTool('other'))
      .withPrepareStep(({ stepNumber }) =>
        stepNumber === 1
          ? { activeTools: ['look'], toolChoice: { tool: 'look' }, system: 'Look first.' }
          : undefined,
      )
      .build();
    const runtime = runtimeOn(place.open(), agent);
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', { ...ann, wait: true });
    const { steps } = await readTrace(runtime, 's', ann);
    expect(steps[0]?.steering).toMatchObject({
      tools: { count: 1, names: ['look'] },
      toolChoice: { tool: 'look' },
      systemHash: expect.any(String),
    });
    expect(steps[1]).not.toHaveProperty('steering');
  });
});
