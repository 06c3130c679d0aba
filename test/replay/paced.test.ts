import { AgentBuilder } from 'onward';
import { replaySessions } from 'onward/replay';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { runtimeOn } from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;
const STEPS = 400;

describe('replays of many long runs', () => {
  it('let other work take its turns', async () => {
    const runtime = runtimeOn(
      memoryStore(),
      AgentBuilder.base()
        .withName('long')
        .withDriver(
          DeterministicDriver.fromSteps(
            ...Array.from({ length: 6 }).flatMap(() => [
              ...Array.from({ length: STEPS - 1 }, (_, n) => toolCall('look', { n })),
              final('done'),
            ]),
          ),
        )
        .withTools(mockTool('look', 'found'))
        .withMaxSteps(STEPS + 1)
        .build(),
    );
    for (let n = 0; n < 6; n++) {
      await runtime.create({ owner: 'ann', id: `s${n}` });
      await runtime.send(`s${n}`, 'go', { owner: 'ann' });
      await runtime.wait(`s${n}`, { owner: 'ann' });
    }
    let turns = 0;
    let isOver = false;
    const beat = (): void => {
      turns += 1;
      if (!isOver) setImmediate(beat);
    };
    beat();
    const { replays } = await replaySessions(runtime, { owner: 'ann', limits: { maxSteps: 399 } });
    isOver = true;
    expect(replays.map(({ stopsAt }) => stopsAt)).toContain(399);
    expect(turns).toBeGreaterThan(10);
  });
});
