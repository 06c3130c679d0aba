import {
  AgentBuilder,
  defineTool,
  ErrorPolicy,
  type AgentState,
  type AgentStep,
  type InferenceDriver,
  type Tool,
  type ToolContext,
  type ToolResult,
} from 'onward';
import { DeterministicDriver, ScenarioStep, type ScriptedCall } from 'onward/testing';
import { expect } from 'vitest';
import { takesAnotherTurn } from './states.ts';

const { toolCalls, final } = ScenarioStep;

export const tool = (name: string, execute: (args: never, context: ToolContext) => unknown): Tool =>
  defineTool({ name, description: `Does ${name}.`, parameters: { type: 'object' }, execute });

export const agentWith = (driver: InferenceDriver, ...tools: readonly Tool[]): AgentBuilder =>
  AgentBuilder.base()
    .withDriver(driver)
    .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
    .withTools(...tools);

interface CalledStep {
  readonly state: AgentState;
  readonly step: AgentStep;
  readonly results: readonly ToolResult[];
  readonly driver: DeterministicDriver;
}

/** Runs `calls` in one step, then lets the model answer. */
export async function runCalls(
  calls: readonly ScriptedCall[],
  ...tools: readonly Tool[]
): Promise<CalledStep> {
  const driver = DeterministicDriver.fromSteps(toolCalls(calls), final('done'));
  const state = await agentWith(driver, ...tools)
    .build()
    .run('go');
  expect(state.status).toBe('completed');
  expect(state.output).toBe('done');
  await takesAnotherTurn(state);
  const step = state.steps.at(0);
  if (!step) throw new Error('the run has no step');
  return { state, step, results: step.results, driver };
}
