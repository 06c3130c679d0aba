import {
  logEvents,
  SlimAgentStateSerializer,
  SlimSerializationConfig,
  type AgentState,
  type RunOptions,
} from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { vi } from 'vitest';
import { leakIn, planted, redactor } from './canary.ts';

/** Everything that a run outputs, as text. */
export class Outlets {
  readonly texts: Record<string, string> = {};
  readonly #events: string[] = [];
  readonly #log: string[] = [];
  readonly #console = vi.spyOn(console, 'error').mockImplementation(() => {});

  options(): RunOptions {
    const write = (fields: object, message: string): void => {
      this.#log.push(message, JSON.stringify(fields));
    };
    const log = logEvents(
      { debug: write, info: write, warn: write, error: write },
      { deltas: true },
    );
    return {
      wiretap: (event) => {
        this.#events.push(JSON.stringify(event));
        log(event);
      },
    };
  }

  collect(state: AgentState): void {
    const presets = ['minimal', 'standard', 'full'] as const;
    const steps = [...state.steps];
    const outcomes = [...steps.map((step) => step.outcome), state.lastContinuationOutcome];
    Object.assign(this.texts, {
      events: this.#events.join('\n'),
      log: this.#log.join('\n'),
      console: JSON.stringify(this.#console.mock.calls),
      errors: JSON.stringify(steps.flatMap(({ errors }) => errors)),
      explain: outcomes.map((outcome) => outcome?.explain()).join('\n'),
      outcomes: JSON.stringify(outcomes),
      ...Object.fromEntries(
        presets.map((preset) => {
          const slim = new SlimAgentStateSerializer(SlimSerializationConfig[preset](), {
            redactor,
          });
          return [`slim ${preset}`, JSON.stringify(slim.serialize(state))];
        }),
      ),
    });
  }

  leaks(): string[] {
    return Object.entries(this.texts).flatMap(([outlet, text]) => {
      const leak = leakIn(text);
      return leak === null ? [] : [`${outlet}: ${leak}`];
    });
  }
}

/** A model that puts every secret into one tool call. */
export const callsTool = (): DeterministicDriver =>
  DeterministicDriver.fromSteps(ScenarioStep.toolCall('vault', planted), ScenarioStep.final('Ok.'));
