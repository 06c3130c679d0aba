import { AgentBuilder, type Agent, type AgentState, type Tool, type ToolResult } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep, type MockTool } from 'onward/testing';

export const approve = { approve: true } as const;
export const deny = { deny: 'too expensive' } as const;

/** A tool that needs approval. */
export const gated = (name = 'pay', answer: unknown = 'paid'): MockTool =>
  mockTool(name, answer, { needsApproval: true });

/** All orders of three answers. */
export const orders: readonly (readonly [number, number, number])[] = [
  [1, 2, 3],
  [1, 3, 2],
  [2, 1, 3],
  [2, 3, 1],
  [3, 1, 2],
  [3, 2, 1],
];

export const agentWith = (steps: readonly ScenarioStep[], ...tools: readonly Tool[]): Agent =>
  AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(...steps))
    .withTools(...tools)
    .build();

export const kinds = (state: AgentState, step = 0): ToolResult['kind'][] | undefined =>
  state.steps.at(step)?.results.map(({ kind }) => kind);
