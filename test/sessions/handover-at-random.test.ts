import { createAgent, defineTool, type InferenceDriver, type Tool } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { between, pick, seededRandom, seedOf } from '../kill/random.ts';
import { unknownEffects } from '../setup/session-moments.ts';
import {
  ann,
  builderWith,
  followingDriver,
  isSound,
  pause,
  places,
  runtimeOn,
} from '../setup/sessions.ts';
import { expectSessionReplayed } from '../setup/replayed.ts';

const { final, toolCall, toolCalls } = ScenarioStep;
const SEEDS = Array.from({ length: 12 }, (_, seed) => seed);
const LONGEST_MS = 3;

/** The agent of one process: whatever it does takes a moment, and tools leave a line when they begin. */
function agentWith(random: () => number, effects: string[]) {
  const slow = (driver: InferenceDriver): InferenceDriver => ({
    name: 'slow',
    async infer(request, options) {
      await pause(between(random, 0, LONGEST_MS));
      return driver.infer(request, options);
    },
  });
  const tool = (name: string, idempotent: boolean): Tool =>
    defineTool({
      name,
      description: name,
      idempotent,
      async execute(_args, { callId }) {
        effects.push(`${name} ${callId}`);
        await pause(between(random, 0, LONGEST_MS));
        return name;
      },
    });
  const tools = [tool('once', false), tool('again', true)];
  const inner = followingDriver([toolCall('once'), toolCall('again'), final('found')]);
  const helper = createAgent({
    name: 'helper',
    driver: slow(inner),
    tools,
    errorPolicy: unknownEffects,
  });
  const outer = followingDriver([
    toolCalls([{ name: 'once' }, { name: 'again' }, { name: 'once' }]),
    toolCall('ask', { input: 'x' }),
    toolCalls([{ name: 'once' }, { name: 'ask', args: { input: 'y' } }]),
    final('done'),
  ]);
  return builderWith(slow(outer), ...tools, helper.asTool({ name: 'ask', description: 'Asks.' }))
    .withErrorPolicy(unknownEffects)
    .build();
}

describe.each(places)('deploys at random moments (%s)', (name, makePlace) => {
  it.each(SEEDS)(
    'seed %i: nothing runs twice, nothing is lost, usage counts once',
    async (seed) => {
      const random = seededRandom(seedOf('handover', name, seed));
      const place = makePlace();
      const store = place.open();
      const effects: string[] = [];
      const first = runtimeOn(store, agentWith(random, effects));
      await first.create({ ...ann, id: 's' });
      await first.send('s', 'go', ann);
      let processes = 1;
      for (let runtime = first; ; processes++) {
        await pause(between(random, 0, 4 * LONGEST_MS));
        await runtime.close({ graceMs: pick(random, [0, 0, LONGEST_MS])! });
        const row = await store.find('s');
        expect(row).toMatchObject({ worker: null, deaths: 0 });
        if (row?.phase === 'idle') break;
        runtime = runtimeOn(store, agentWith(random, effects));
        await runtime.recover();
      }
      const reader = runtimeOn(store, agentWith(random, effects));
      const session = await reader.get('s', ann);
      expect(session, `${processes} processes`).toMatchObject({
        status: 'completed',
        output: 'done',
      });
      const once = effects.filter((line) => line.startsWith('once'));
      expect(new Set(once).size).toBe(once.length);
      const { items: steps } = await reader.steps('s', ann);
      expect(steps.map(({ toolCalls }) => toolCalls.length)).toEqual([3, 1, 2, 0]);
      for (const { toolCalls: calls, results } of steps)
        for (const [i, { kind, callId, error }] of results.entries()) {
          if (kind !== 'ok') expect(error).toMatchObject({ code: 'effect_unknown' });
          else if (calls[i]!.name === 'once') expect(once).toContain(`once ${callId}`);
        }
      // four answers of the root, three of each helper
      const { execution } = await reader.state('s', ann);
      expect(execution.usage.input).toBe(10 * steps.at(-1)!.usage.input);
      expect(execution).toMatchObject({ stepCount: 4, answeredSteps: 4 });
      await isSound(reader, 's');
      await expectSessionReplayed(reader, 's', 'ann');
    },
  );
});
