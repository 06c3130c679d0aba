import { AgentBuilder, type AgentState } from 'onward';
import {
  DeterministicDriver,
  fakeClock,
  mockTool,
  ScenarioStep,
  type FakeClock,
} from 'onward/testing';
import type { Setting } from './scripts.ts';

export const START = '2026-01-16T12:00:00.000Z';
export const HOUR = 3_600_000;

export function setUp(script: readonly ScenarioStep[]): Setting {
  const clock = fakeClock(START);
  const driver = DeterministicDriver.create(script, { clock });
  const takes = (name: string, ms: number, spec = {}) =>
    mockTool(
      name,
      () => new Promise((resolve) => clock.after(ms, () => resolve(`took ${ms}`))),
      spec,
    );
  const builder = AgentBuilder.base()
    .withDriver(driver)
    .withTools(
      takes('work5', 5_000),
      takes('work3', 3_000, { needsApproval: true }),
      mockTool('hangs', () => new Promise(() => {}), { timeoutMs: 10 * HOUR }),
      mockTool('quick', 'done at once'),
    )
    .withClock(clock);
  return { clock, driver, builder };
}

/** Advances the clock while the agent runs. */
export async function during<T>(clock: FakeClock, ms: number, run: Promise<T>): Promise<T> {
  await clock.advance(ms);
  return run;
}

/** A run whose time limit of ten seconds passes. */
export async function pastDeadline(
  builder: AgentBuilder,
): Promise<{ readonly state: AgentState; readonly clock: FakeClock }> {
  const clock = fakeClock();
  const agent = builder.withTimeout({ seconds: 10 }).withClock(clock).build();
  const state = await during(clock, 10_000, agent.run('go'));
  return { state, clock };
}
