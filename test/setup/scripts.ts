import type { AgentBuilder } from 'onward';
import {
  ScenarioStep,
  type DeterministicDriver,
  type FakeClock,
  type ScenarioExtras,
} from 'onward/testing';

/** An agent that is not built yet, and what the test of it holds in its hands. */
export interface Setting {
  readonly clock: FakeClock;
  readonly driver: DeterministicDriver;
  readonly builder: AgentBuilder;
}

/** So many steps that each look up another page. */
export const pages = (n: number, extras: ScenarioExtras = {}): ScenarioStep[] =>
  Array.from({ length: n }, (_, page) => ScenarioStep.toolCall('search', { page }, '', extras));
