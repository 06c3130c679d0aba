import { createAgent, type InferenceDriver, type Tool } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { ended, gated, held, paused, unknownEffects } from '../setup/session-moments.ts';
import {
  ann,
  builderWith,
  callIds,
  followingDriver,
  gate,
  isSound,
  places,
  runtimeOn,
  takesAnotherTurn,
  waiting,
} from '../setup/sessions.ts';

const { final, toolCall, toolCalls } = ScenarioStep;

const version = (driver: InferenceDriver, ...tools: readonly Tool[]) =>
  builderWith(driver, ...tools)
    .withErrorPolicy(unknownEffects)
    .build();

describe.each(places)('two versions of an agent (%s)', (_name, makePlace) => {
  it('continue the same session: the new one with its own prompt and tools', async () => {
    const place = makePlace();
    const { tool: slow, open, began } = held();
    const script = [toolCall('slow'), toolCall('look'), final('done')];
    const a = runtimeOn(place.open(), version(followingDriver(script), slow));
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await began();
    const closing = a.close();
    open();
    await closing;
    const driver = followingDriver(script);
    const look = mockTool('look');
    const next = builderWith(driver, look).withSystemPrompt('The new prompt.').build();
    const b = runtimeOn(place.open(), next);
    await b.recover();
    expect(await ended(b, 's')).toMatchObject({ status: 'completed', output: 'done' });
    expect(driver.requests[0]!.system).toBe('The new prompt.');
    expect([slow.calls.length, look.calls.length]).toEqual([1, 1]);
    await isSound(b, 's');
  });

  it.each([
    ['approved', 'error', 'approved'],
    ['denied', 'denied', 'denied'],
  ] as const)(
    'a tool that vanished before its call was %s is a result with the answer',
    async (how, kind, decision) => {
      const place = makePlace();
      const script = [toolCall('pay', { amount: 7 }), final('done')];
      const a = runtimeOn(place.open(), version(followingDriver(script), gated()));
      const [callId] = callIds(await paused(a, 's'));
      await a.close();
      const b = runtimeOn(place.open(), version(followingDriver(script), mockTool('look')));
      const session = await (how === 'approved'
        ? b.approve('s', callId!, waiting)
        : b.deny('s', callId!, { ...waiting, reason: 'too much' }));
      expect(session).toMatchObject({ status: 'completed', output: 'done' });
      const [result] = (await b.steps('s', ann)).items[0]!.results;
      expect(result).toMatchObject({ kind, approval: { decision, by: 'ann' } });
      if (how === 'approved')
        expect(result).toMatchObject({
          error: {
            code: 'unknown_tool',
            message:
              'The tool "pay" is not available any more, so the call was not run. Available: look.',
          },
        });
      await isSound(b, 's');
      await takesAnotherTurn(place, 's');
    },
  );

  it('a tool that vanished while it ran has an unknown effect, one that had not begun was not run', async () => {
    const place = makePlace();
    const { tool: slow, began } = held();
    const calls = [...Array.from({ length: 8 }, () => ({ name: 'slow' })), { name: 'last' }];
    const script = () => followingDriver([toolCalls(calls), final('done')]);
    const a = runtimeOn(place.open(), version(script(), slow, mockTool('last')));
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await began();
    await a.close({ graceMs: 30 });
    const b = runtimeOn(place.open(), version(script(), mockTool('look')));
    await b.recover();
    expect(await ended(b, 's')).toMatchObject({ status: 'completed', output: 'done' });
    const { results } = (await b.steps('s', ann)).items[0]!;
    expect(results.map(({ error }) => error?.code)).toEqual([
      ...Array.from({ length: 8 }, () => 'effect_unknown'),
      'unknown_tool',
    ]);
    await isSound(b, 's');
  });

  it.each<[string, (ask: Tool) => Tool]>([
    ['gone', () => mockTool('look')],
    ['a plain tool now', () => mockTool('ask')],
    ['another agent now', (ask) => ask],
  ])('an agent that was interrupted inside a call and is %s is a result', async (_how, next) => {
    const place = makePlace();
    const entered = gate();
    const pay = mockTool('pay', 'paid');
    const script = followingDriver([toolCall('pay'), final('never')]);
    const half: InferenceDriver = {
      name: 'half',
      infer: (request, options) =>
        script.requests.length === 0
          ? script.infer(request, options)
          : new Promise(() => entered.open()),
    };
    const helper = (name: string, driver: InferenceDriver) =>
      createAgent({ name, driver, tools: [pay] }).asTool({ name: 'ask', description: 'Asks.' });
    const outer = () => followingDriver([toolCall('ask', { input: 'x' }), final('done')]);
    const a = runtimeOn(place.open(), version(outer(), helper('helper', half)));
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await entered.passed;
    await a.close({ graceMs: 30 });

    const other = next(helper('other', followingDriver()));
    const b = runtimeOn(place.open(), version(outer(), other));
    await b.recover();
    expect(await ended(b, 's')).toMatchObject({ status: 'completed', output: 'done' });
    const steps = (await b.steps('s', ann)).items;
    expect(steps[0]!.results).toMatchObject([{ kind: 'error', error: { code: 'unknown_tool' } }]);
    expect(steps[0]!.results[0]!.error!.message).toContain(
      'The agent "helper" behind "ask" was interrupted and is not available any more.',
    );
    expect(pay.calls).toHaveLength(1);
    // the step of the helper counts, though it gave no answer
    const { execution } = await b.state('s', ann);
    expect(execution.family).toMatchObject([{ agent: 'helper', steps: 1 }]);
    expect(execution.usage.input).toBe(3 * steps.at(-1)!.usage.input);
    await isSound(b, 's');
    await takesAnotherTurn(place, 's');
  });
});
