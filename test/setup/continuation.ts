import { AgentBuilder, type Tool } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import type { Setting } from './scripts.ts';

export const base = (
  script: readonly ScenarioStep[],
  tools: readonly Tool[] = [mockTool('search')],
): Pick<Setting, 'driver' | 'builder'> => {
  const driver = DeterministicDriver.create(script);
  const builder = AgentBuilder.base()
    .withDriver(driver)
    .withTools(...tools)
    .withClock(fakeClock());
  return { driver, builder };
};
