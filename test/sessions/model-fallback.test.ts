import { continuedBecause } from '../../src/trace/continued-because.ts';
import { readTrace } from '../../src/trace/index.ts';
import { ScenarioStep, type DeterministicDriver } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { fails, requestsOf, scripted, withModels } from '../setup/fallback.ts';
import {
  ann,
  receiving,
  isSound,
  places,
  runtimeOn,
  typesOf,
  until,
  waiting,
} from '../setup/sessions.ts';

const { final } = ScenarioStep;
const agentOf = (models: readonly DeterministicDriver[]) =>
  withModels(models).withName('support').build();

describe.each(places)('fallback models in a session (%s)', (_name, makePlace) => {
  it('D84: another process continues with the model that the stored step names', async () => {
    const place = makePlace();
    const hanging = final('never', { hangs: true });
    const first = scripted([[fails('overloaded')], [hanging]]);
    const a = runtimeOn(place.open(), agentOf(first));
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await until(() => requestsOf(first)[1]);
    // hands the session over in the middle of the second call
    await a.close({ graceMs: 0 });
    const second = scripted([['never'], ['Hello.']]);
    const b = runtimeOn(place.open(), agentOf(second));
    await b.recover();
    const done = await until(async () => {
      const session = await b.get('s', ann);
      return session.status === 'completed' ? session : null;
    });
    expect(done.output).toBe('Hello.');
    expect(requestsOf(second)).toEqual([0, 1]);
    expect((await readTrace(b, 's', ann)).steps).toMatchObject([
      { type: 'error', model: 'openai:gpt-5', fallback: 'anthropic:claude' },
      { type: 'final', model: 'anthropic:claude' },
    ]);
    await isSound(b, 's');
  });

  it('the trace has the model of each step and the reason of the change', async () => {
    const models = scripted([[fails('overloaded')], ['Hello.']]);
    const runtime = runtimeOn(makePlace().open(), agentOf(models));
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    const { steps } = await readTrace(runtime, 's', ann);
    expect(steps).toMatchObject([
      { type: 'error', model: 'openai:gpt-5', fallback: 'anthropic:claude' },
      { type: 'final', model: 'anthropic:claude' },
    ]);
    const [failed] = steps;
    expect(failed?.outcome && continuedBecause(failed.outcome)).toContain(
      'Continued with anthropic:claude because openai:gpt-5 was overloaded',
    );
  });

  it('the log has the change of the model', async () => {
    const models = scripted([[fails('quota')], ['Hello.']]);
    const runtime = runtimeOn(makePlace().open(), agentOf(models));
    const received = receiving(runtime);
    await runtime.create({ ...ann, id: 's' });
    expect(await runtime.send('s', 'go', waiting)).toMatchObject({ output: 'Hello.' });
    expect(typesOf(received)).toContain('ModelFallback');
    const { events } = await runtime.events('s', ann);
    const changed = events.find(({ event }) => event.type === 'ModelFallback');
    expect(changed?.event).toMatchObject({
      from: 'openai:gpt-5',
      to: 'anthropic:claude',
      reason: 'openai:gpt-5 has no quota left, continued with anthropic:claude',
    });
  });
});
