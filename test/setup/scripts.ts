import type { AgentBuilder } from 'onward';
import {
  ScenarioStep,
  type DeterministicDriver,
  type FakeClock,
  type ScenarioExtras,
} from 'onward/testing';

/** An agent builder with the parts that a test needs. */
export interface Setting {
  readonly clock: FakeClock;
  readonly driver: DeterministicDriver;
  readonly builder: AgentBuilder;
}

/** Steps that each search another page. */
export const pages = (n: number, extras: ScenarioExtras = {}): ScenarioStep[] =>
  Array.from({ length: n }, (_, page) => ScenarioStep.toolCall('search', { page }, '', extras));
