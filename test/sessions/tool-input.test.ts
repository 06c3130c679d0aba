import { defineTool } from 'onward';
import type { InputAnswer } from 'onward/ui';
import { fakeClock, ScenarioStep } from 'onward/testing';
import { memoryStore } from 'onward/stores/memory';
import { describe, expect, it } from 'vitest';
import { mortal } from '../setup/mortal-store.ts';
import { unknownEffects } from '../setup/session-moments.ts';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  isSound,
  places,
  refusal,
  runtimeOn,
  takesAnotherTurn,
  until,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;
const yes: InputAnswer = { action: 'accept', content: { sure: true } };

/** Calls `onRun` each time that the tool runs. It asks on its first run. */
const asking = (onRun: (isAnswered: boolean) => unknown, idempotent: boolean = false) =>
  defineTool({
    name: 'delete_page',
    description: 'Deletes a page.',
    idempotent,
    execute: async (_args, { input, requestInput }) => {
      await onRun(input !== null);
      return input
        ? `deleted: ${input.answers['sure']?.action}`
        : requestInput({ sure: { message: 'Sure?', schema: { type: 'object' } } }, { state: 's' });
    },
  });

const agentWithTool = (tool: ReturnType<typeof asking>) =>
  builderWith(followingDriver([toolCall('delete_page'), final('done')]), tool)
    .withErrorPolicy(unknownEffects)
    .build();

const id = 't0s0c0/sure';

describe.each(places)('input of tools in sessions (%s)', (_name, makePlace) => {
  it('a process that never saw the session runs the call again with the answer', async () => {
    const place = makePlace();
    const runs: string[] = [];
    const first = runtimeOn(place.open(), agentWithTool(asking(() => runs.push('a'))));
    await first.create({ ...ann, id: 's' });
    const asked = await first.send('s', 'go', waiting);
    expect(asked).toMatchObject({ status: 'paused', pause: { kind: 'input' } });
    expect(asked.pendingInputs).toMatchObject([{ inputId: id, message: 'Sure?' }]);
    await first.close();
    const second = runtimeOn(place.open(), agentWithTool(asking(() => runs.push('b'))));
    const done = await second.answer('s', id, { ...waiting, answer: yes, by: 'bo' });
    expect(done).toMatchObject({ status: 'completed', output: 'done', pendingInputs: [] });
    expect(runs).toEqual(['a', 'b']);
    const [step] = (await second.steps('s', ann)).items;
    expect(step?.results).toMatchObject([{ kind: 'ok', value: 'deleted: accept' }]);
    await isSound(second, 's');
    await takesAnotherTurn(place, 's');
  });

  it('rejects answers of others, to other executions, twice, and too late', async () => {
    const place = makePlace();
    const runtime = runtimeOn(place.open(), agentWithTool(asking(() => {})));
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    const code = async (options: Parameters<typeof runtime.answer>[2], input: string = id) =>
      (await refusal(() => runtime.answer('s', input, options))).code;
    expect(await code({ owner: 'eve', answer: yes })).toBe('session_not_found');
    expect(await code({ ...ann, answer: yes, executionId: 'other' })).toBe('unknown_input');
    expect(await code({ ...ann, answer: yes }, 't0s0c0')).toBe('unknown_input');
    expect(await code({ ...ann, answer: { approve: true } as never })).toBe('invalid_input');
    const approval = await refusal(() => runtime.approve('s', id, ann));
    expect(approval.code).toBe('unknown_approval');
    const both = await Promise.allSettled([
      runtime.answer('s', id, { ...waiting, answer: yes }),
      runtime.answer('s', id, { ...waiting, answer: { action: 'decline' } }),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await code({ ...ann, answer: yes })).toBe('not_resumable');
  });

  it('a stop closes the question', async () => {
    const place = makePlace();
    const runtime = runtimeOn(place.open(), agentWithTool(asking(() => {})));
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    const stopped = await runtime.stop('s', waiting);
    expect(stopped).toMatchObject({ status: 'stopped', pendingInputs: [] });
    const [step] = (await runtime.steps('s', ann)).items;
    expect(step?.results).toMatchObject([{ kind: 'aborted' }]);
    await takesAnotherTurn(place, 's');
  });
});

describe('D74: a process that dies while an answered call runs', () => {
  it.each([
    ['is reported as unknown', false, ['ask', 'act'], 'effect_unknown'],
    ['runs again if the tool is idempotent', true, ['ask', 'act', 'act'], undefined],
  ] as const)('%s', async (_case, idempotent, expected, error) => {
    const clock = fakeClock();
    const store = memoryStore({ clock });
    const runs: string[] = [];
    const dying = mortal(store);
    const note = (isAnswered: boolean): unknown => {
      runs.push(isAnswered ? 'act' : 'ask');
      if (!isAnswered || runs.length > 2) return undefined;
      dying.die();
      return new Promise(() => {});
    };
    const agent = () => agentWithTool(asking(note, idempotent));
    const client = clientOn(store, agent());
    const first = runtimeOn(dying.store, agent());
    await client.create({ ...ann, id: 's' });
    await client.send('s', 'go', ann);
    await first.recover();
    await until(async () => (await client.get('s', ann)).status === 'paused');
    await client.answer('s', id, { ...ann, answer: yes });
    await first.recover();
    await until(() => runs.length === 2);
    clock.jump(20_000);
    const second = runtimeOn(store, agent());
    await second.recover();
    const done = await until(async () => {
      const session = await client.get('s', ann);
      return session.status === 'completed' ? session : null;
    });
    expect(done.output).toBe('done');
    expect(runs).toEqual(expected);
    const [step] = (await client.steps('s', ann)).items;
    expect(step?.results[0]?.error?.code).toBe(error);
  });
});
