import type { InferenceDriver } from 'onward/drivers';
import { memoryStore } from 'onward/stores/memory';
import { fakeClock } from 'onward/testing';
import { expect, it } from 'vitest';
import { isSummaryRequest, longAgent, longModel } from '../setup/long-conversations.ts';
import { mortal } from '../setup/mortal-store.ts';
import { ann, clientOn, gate, receiving, runtimeOn, until, waiting } from '../setup/sessions.ts';

/** A model that never answers behind a summary, if `hangs`. */
function modelThat(hangs: boolean) {
  const model = longModel();
  const reached = gate();
  const infer: InferenceDriver['infer'] = (request, options) => {
    if (!hangs || isSummaryRequest(request) || model.summaries.length === 0)
      return model.infer(request, options);
    reached.open();
    return new Promise(() => {});
  };
  return { ...model, infer, reached: reached.passed };
}

it.each([false, true])(
  'D72: a compaction of a window counts the same messages live, in the step and after a reload (killed: %s)',
  async (isKilled) => {
    const clock = fakeClock();
    const store = memoryStore({ clock });
    const compacting = (model: InferenceDriver) =>
      longAgent(model)
        .withCompaction({ atTokens: 1_500, keepTurns: 1, clearToolResults: false })
        .build();
    const grow = runtimeOn(store, longAgent(longModel()).build());
    await grow.create({ ...ann, id: 's', messages: [{ role: 'system', content: 'Rules.' }] });
    for (let turn = 0; turn < 8; turn++) await grow.send('s', `turn ${turn}`, waiting);
    await grow.close();

    const model = modelThat(isKilled);
    const life = mortal(store);
    const client = clientOn(store, compacting(model));
    const options = { maxMessages: 1 };
    const first = runtimeOn(life.store, compacting(model), options);
    const received = receiving(first);
    await client.send('s', 'more', { ...ann, executionId: 'more' });
    await first.recover();
    if (isKilled) {
      await model.reached;
      life.die();
      clock.jump(20_000);
      await runtimeOn(store, compacting(longModel()), options).recover();
    }
    await until(async () => (await client.get('s', ann)).status !== 'in_progress');

    const { items } = await client.compactions('s', ann);
    const [summary] = items;
    // positions of the session: the window has 10 of 33 messages, and begins with the rules
    expect(summary).toMatchObject({ kind: 'summary' });
    expect(summary!.fromPosition).toBeGreaterThan(1);
    const covered = items.map(({ id, fromPosition, toPosition }) => [
      id,
      toPosition - fromPosition,
    ]);
    const steps = (await client.steps('s', { ...ann, limit: 100 })).items;
    const inSteps = steps.flatMap(({ compactions = [] }) => compactions);
    expect(inSteps.map(({ id, messages }) => [id, messages])).toEqual(covered);
    const live = received.flatMap(({ event }) =>
      event.type === 'ContextCompacted' ? [[event.id, event.messages]] : [],
    );
    expect(live).toEqual(covered.slice(0, live.length));
    expect(live.length).toBeGreaterThan(0);
  },
);
