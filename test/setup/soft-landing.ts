import { AgentBuilder, ErrorPolicy, type AgentState } from 'onward';
import {
  DeterministicDriver,
  fakeClock,
  mockTool,
  ScenarioStep,
  type MockTool,
} from 'onward/testing';
import type { Setting } from './scripts.ts';

interface Landing extends Setting {
  readonly search: MockTool;
}

export function landing(script: readonly ScenarioStep[], toolMs = 0): Landing {
  const clock = fakeClock();
  const search = mockTool('search', () => {
    clock.jump(toolMs);
    return 'found';
  });
  const driver = DeterministicDriver.create(script, { clock });
  const builder = AgentBuilder.base()
    .withDriver(driver)
    .withTools(search)
    .withClock(clock)
    .withErrorPolicy(ErrorPolicy.retryToolErrors(3).withBackoff({ initialMs: 0 }))
    .withSoftLanding();
  return { driver, builder, clock, search };
}

export const marks = (state: AgentState): (string | undefined)[] =>
  [...state.steps].map((step) => step.softLanding);

export const choices = ({ requests }: DeterministicDriver): unknown[] =>
  requests.map((r) => r.toolChoice);
