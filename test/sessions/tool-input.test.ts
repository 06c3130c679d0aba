import { AgentBuilder, defineTool, type JsonObject } from 'onward';
import type { InputAnswer } from 'onward/ui';
import { fakeClock, mockTool, ScenarioStep } from 'onward/testing';
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

  it('is not answered with resume, which says how', async () => {
    const runtime = runtimeOn(makePlace().open(), agentWithTool(asking(() => {})));
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    const options = { ...ann, inputs: { [id]: yes } };
    const error = await refusal(() => runtime.resume('s', options));
    expect([error.code, error.message]).toEqual([
      'invalid_option',
      'resume inputs got an object with t0s0c0/sure, expected no inputs: answer each question with ' +
        'runtime.answer(id, inputId, { owner, answer }).',
    ]);
    expect((await runtime.get('s', ann)).pendingInputs).toHaveLength(1);
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

describe.each(places)('questions that something happens to (%s)', (_name, makePlace) => {
  it('a tool that was removed while it waited is a result', async () => {
    const place = makePlace();
    const first = runtimeOn(place.open(), agentWithTool(asking(() => {})));
    await first.create({ ...ann, id: 's' });
    await first.send('s', 'go', waiting);
    await first.close();
    const look = mockTool('look');
    const next = builderWith(followingDriver([toolCall('delete_page'), final('done')]), look);
    const second = runtimeOn(place.open(), next.withErrorPolicy(unknownEffects).build());
    const done = await second.answer('s', id, { ...waiting, answer: yes });
    expect(done).toMatchObject({ status: 'completed', output: 'done' });
    const [step] = (await second.steps('s', ann)).items;
    expect(step?.results).toMatchObject([{ kind: 'error', error: { code: 'unknown_tool' } }]);
    await isSound(second, 's');
    await takesAnotherTurn(place, 's');
  });

  it('asks in a nested agent, and another process answers', async () => {
    const place = makePlace();
    const runs: string[] = [];
    const make = (who: string) => {
      const inner = AgentBuilder.base()
        .withName('inner')
        .withDriver(followingDriver([toolCall('delete_page'), final('inner done')]))
        .withTools(asking(() => runs.push(who)))
        .build();
      const ask = inner.asTool({ name: 'ask', description: 'Asks.' });
      return builderWith(
        followingDriver([toolCall('ask', { input: 'go' }), final('done')]),
        ask,
      ).build();
    };
    const first = runtimeOn(place.open(), make('a'));
    await first.create({ ...ann, id: 's' });
    const asked = await first.send('s', 'go', waiting);
    const [question] = asked.pendingInputs;
    expect(question).toMatchObject({ tool: 'delete_page', path: ['t0s0c0'] });
    await first.close();
    const second = runtimeOn(place.open(), make('b'));
    const done = await second.answer('s', question!.inputId, { ...waiting, answer: yes });
    expect(done).toMatchObject({ status: 'completed', output: 'done' });
    expect(runs).toEqual(['a', 'b']);
    await isSound(second, 's');
  });

  it('a fork of a waiting session does not have the question', async () => {
    const place = makePlace();
    const script = [toolCall('look'), toolCall('delete_page'), final('done')];
    const tools = [mockTool('look'), asking(() => {})];
    const runtime = runtimeOn(place.open(), builderWith(followingDriver(script), ...tools).build());
    await runtime.create({ ...ann, id: 's' });
    const asked = await runtime.send('s', 'go', waiting);
    const fork = await runtime.fork('s', ann);
    expect(fork.pendingInputs).toEqual([]);
    const { inputId } = asked.pendingInputs[0]!;
    const late = await refusal(() => runtime.answer(fork.id, inputId, { ...ann, answer: yes }));
    expect(late.code).toBe('not_resumable');
    expect((await runtime.answer('s', inputId, { ...waiting, answer: yes })).status).toBe(
      'completed',
    );
  });

  it('an answer and a stop at once: the run ends once, and the next turn works', async () => {
    const place = makePlace();
    const stores = [place.open(), place.open()];
    const [a, b] = stores.map((store) => runtimeOn(store, agentWithTool(asking(() => {}))));
    await a!.create({ ...ann, id: 's' });
    await a!.send('s', 'go', waiting);
    const said = await Promise.allSettled([
      a!.answer('s', id, { ...waiting, answer: yes }),
      b!.stop('s', waiting),
    ]);
    expect(said[1]?.status).toBe('fulfilled');
    const { status } = await a!.wait('s', ann);
    expect(['completed', 'stopped']).toContain(status);
    await isSound(a!, 's');
    await takesAnotherTurn(place, 's');
  });

  it('answers are in no event, and keys such as __proto__ reach no object', async () => {
    const place = makePlace();
    const seen: unknown[] = [];
    const tool = defineTool({
      name: 'delete_page',
      description: 'Deletes a page.',
      execute: (_args, { input, requestInput }) => {
        if (!input) return requestInput({ sure: { message: 'Sure?', schema: { type: 'object' } } });
        seen.push(input.answers['sure'], input.answers['toString'], ({} as { bad?: string }).bad);
        return 'done';
      },
    });
    const agent = builderWith(followingDriver([toolCall('delete_page'), final('done')]), tool);
    const runtime = runtimeOn(place.open(), agent.build());
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    const content = JSON.parse('{"word":"marmalade","__proto__":{"bad":"yes"}}') as JsonObject;
    await runtime.answer('s', id, { ...waiting, answer: { action: 'accept', content } });
    expect(seen).toEqual([
      { action: 'accept', content: { word: 'marmalade' } },
      undefined,
      undefined,
    ]);
    const { events } = await runtime.events('s', { ...ann, limit: 200 });
    expect(JSON.stringify(events)).not.toContain('marmalade');
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
