import { AgentBuilder, AgentError, type Agent, type AgentState, type Grants } from 'onward';
import {
  DeterministicDriver,
  fakeClock,
  mockTool,
  ScenarioStep,
  type FakeClock,
} from 'onward/testing';
import { expect } from 'vitest';
import { pages as search, type Setting } from './scripts.ts';

export const everyGrant: Grants = { steps: 50, tokens: 5_000, cost: 50, seconds: 500, retries: 5 };

export const pages = (n: number): ScenarioStep[] => search(n, { cost: 0.01 });

export interface Ended extends Omit<Setting, 'builder'> {
  readonly agent: Agent;
  readonly state: AgentState;
}

/** Runs the script until it stops. The next answer is `done`. */
export async function ended(
  script: readonly ScenarioStep[],
  shaped: (builder: AgentBuilder, clock: FakeClock) => AgentBuilder,
  drive: (agent: Agent, clock: FakeClock) => Promise<AgentState> = (agent) => agent.run('go'),
): Promise<Ended> {
  const clock = fakeClock();
  const driver = DeterministicDriver.create(
    [...script, ScenarioStep.final('done', { cost: 0.01 })],
    { clock },
  );
  const builder = AgentBuilder.base()
    .withDriver(driver)
    .withTools(mockTool('search'))
    .withClock(clock);
  const agent = shaped(builder, clock).build();
  const state = await drive(agent, clock);
  expect(driver.requests.length).toBe(script.length);
  return { agent, state, driver, clock };
}

export const refusal = (run: Promise<unknown>): Promise<AgentError> =>
  run.then(
    () => Promise.reject(new Error('was not refused')),
    (thrown: unknown) => {
      expect(AgentError.is(thrown, 'not_resumable')).toBe(true);
      return thrown as AgentError;
    },
  );

export const failure: ScenarioStep = ScenarioStep.error({ type: 'rate_limit', message: '429' });
