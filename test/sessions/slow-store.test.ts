import type { Commit, SessionStore } from 'onward/stores';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  ann,
  builderWith,
  followingDriver,
  gate,
  isSound,
  pause,
  places,
  runtimeOn,
  until,
} from '../setup/sessions.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const steps = [...Array.from({ length: 8 }, (_, n) => toolCall('count', { n })), final('done')];

/** Wraps a store that records commits and delays them. */
function slow(store: SessionStore, wait: () => Promise<void>) {
  const commits: Commit[] = [];
  const commit: SessionStore['commit'] = async (given) => {
    await wait();
    commits.push(given);
    return store.commit(given);
  };
  return { commits, store: { ...store, commit } satisfies SessionStore };
}

describe.each(places)('a slow store (%s)', (_name, makePlace) => {
  it.each([0, 1, 4])('with a delay of %i ms gets every row once and in order', async (ms) => {
    const place = makePlace();
    const { store, commits } = slow(place.open(), () => pause(ms));
    const agent = builderWith(followingDriver(steps), mockTool('count', 'ok')).build();
    const runtime = runtimeOn(store, agent);
    await runtime.create({ ...ann, id: 's' });
    const session = await runtime.send('s', 'go', { ...ann, wait: true });
    expect(session).toMatchObject({ status: 'completed', stepCount: 9, messageCount: 18 });
    const { messages, items } = {
      messages: (await runtime.messages('s', ann)).items,
      items: (await runtime.steps('s', ann)).items,
    };
    expect(new Set(messages.map(({ id }) => id)).size).toBe(18);
    expect(items.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const { events } = await runtime.events('s', ann);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    // a step is committed together with the start of the next one
    if (ms === 0) expect(commits.length).toBeLessThan(2 * 9);
    await isSound(runtime, 's');
    await runtime.close();
  });

  it('gets a step once if it ends while its results wait to be written', async () => {
    const place = makePlace();
    const { store } = slow(place.open(), () => pause(30));
    const calls = [1, 10, 20].map((ms) => ({ name: 'wait', args: { ms } }));
    const wait = mockTool('wait', async ({ ms }: { ms: number }) => {
      await pause(ms);
      return ms;
    });
    const driver = followingDriver([toolCalls(calls), toolCalls(calls), final('done')]);
    const runtime = runtimeOn(store, builderWith(driver, wait).build());
    await runtime.create({ ...ann, id: 's' });
    const session = await runtime.send('s', 'go', { ...ann, wait: true });
    expect(session).toMatchObject({ status: 'completed', stepCount: 3, messageCount: 10 });
    expect((await runtime.messages('s', ann)).items).toHaveLength(10);
    const { events } = await runtime.events('s', ann);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    expect(events.filter(({ event }) => event.type === 'ToolCallCompleted')).toHaveLength(6);
    await isSound(runtime, 's');
    await runtime.close();
  });

  it('delays each tool until the previous step is written, even if the model has answered', async () => {
    const place = makePlace();
    const [held, asked] = [gate(), gate()];
    let isHeld = false;
    const { store } = slow(place.open(), () => (isHeld ? held.passed : Promise.resolve()));
    const ran: unknown[] = [];
    const driver = followingDriver(steps);
    const count = mockTool('count', ({ n }: { n: number }) => {
      ran.push(n);
      isHeld = n === 0;
      return 'ok';
    });
    const agent = builderWith(
      {
        ...driver,
        infer: (request, cancellation) => {
          if (ran.length === 1) asked.open();
          return driver.infer(request, cancellation);
        },
      },
      count,
    ).build();
    const runtime = runtimeOn(store, agent);
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', ann);
    await asked.passed; // the model is asked while the step is being written
    await pause(20);
    expect(ran).toEqual([0]);
    expect((await runtime.steps('s', ann)).items).toEqual([]);
    isHeld = false;
    held.open();
    await until(() => ran.length === 8);
    expect(await runtime.wait('s', ann)).toMatchObject({ status: 'completed' });
    await runtime.close();
  });
});
