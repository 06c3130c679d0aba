import { AgentBuilder, type Agent, type SessionRuntime } from 'onward';
import { replaySession, replaySessions } from 'onward/replay';
import type { SessionStore } from 'onward/stores';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runtimeOn } from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;
const STEPS = 400;

const longAgent = (runs: number): Agent =>
  AgentBuilder.base()
    .withName('long')
    .withDriver(
      DeterministicDriver.fromSteps(
        ...Array.from({ length: runs }).flatMap(() => [
          ...Array.from({ length: STEPS - 1 }, (_, n) => toolCall('look', { n })),
          final('done'),
        ]),
      ),
    )
    .withTools(mockTool('look', 'found'))
    .withMaxSteps(STEPS + 1)
    .build();

async function ranOn(store: SessionStore, runs: number): Promise<SessionRuntime> {
  const runtime = runtimeOn(store, longAgent(runs));
  for (let n = 0; n < runs; n++) {
    await runtime.create({ owner: 'ann', id: `s${n}` });
    await runtime.send(`s${n}`, 'go', { owner: 'ann' });
    await runtime.wait(`s${n}`, { owner: 'ann' });
  }
  return runtime;
}

/** Counts the turns of the event loop during some work. */
async function turnsOf(work: () => Promise<void>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const beat = (): void => {
    turns += 1;
    if (!isOver) setImmediate(beat);
  };
  beat();
  await work();
  isOver = true;
  return turns;
}

/** Lets each look at the clock take a millisecond, so that the turns of paced work depend on its pieces alone. */
function slowClock(): void {
  let now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1));
  onTestFinished(() => clock.mockRestore());
}

describe('replays of many long runs', () => {
  it('let other work take its turns', async () => {
    const runtime = await ranOn(memoryStore(), 6);
    slowClock();
    let stops: readonly (number | null)[] = [];
    const turns = await turnsOf(async () => {
      const page = await replaySessions(runtime, {
        owner: 'ann',
        limits: { maxSteps: 399 },
        maxMs: 1_000_000,
      });
      stops = page.replays.map(({ stopsAt }) => stopsAt);
    });
    expect(stops).toEqual(Array.from({ length: 6 }, () => 399));
    // a turn of 8 ms judges at most 8 steps
    expect(turns).toBeGreaterThan((6 * STEPS) / 8);
  });

  it('end their page when its time is over, and the next one begins behind it', async () => {
    const runtime = await ranOn(memoryStore(), 6);
    slowClock();
    const options = { owner: 'ann', limits: { maxSteps: 399 }, maxMs: 100 };
    const first = await replaySessions(runtime, options);
    expect(first.replays).toHaveLength(5); // a page ends between two reads of the list
    const rest = await replaySessions(runtime, { ...options, cursor: first.cursor ?? '' });
    expect(rest).toMatchObject({ replays: [{ stopsAt: 399 }], cursor: null });
  });

  it('read steps a few at a time, and no messages', async () => {
    const read: string[] = [];
    const limits: number[] = [];
    const store = memoryStore();
    const counting = new Proxy(store, {
      get(of, name: keyof SessionStore) {
        if (name === 'steps')
          return (...given: Parameters<SessionStore['steps']>) => {
            limits.push(given[2]?.limit ?? STEPS);
            return of.steps(...given);
          };
        read.push(name);
        return of[name];
      },
    });
    const runtime = await ranOn(counting, 1);
    read.length = 0;
    limits.length = 0;
    const { steps } = await replaySession(runtime, 's0', { owner: 'ann' });
    expect(steps).toHaveLength(STEPS);
    expect(read).not.toContain('messages');
    expect(read).not.toContain('events');
    // no row is read twice
    expect(limits.reduce((sum, limit) => sum + limit, 0)).toBe(STEPS);
    expect(Math.max(...limits)).toBeLessThanOrEqual(50);
  });
});
