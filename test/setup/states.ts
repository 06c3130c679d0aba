import { AgentBuilder, AgentState } from 'onward';
import { DeterministicDriver } from 'onward/testing';
import { expect } from 'vitest';

/** Serializes the state and restores it, as another process would. */
export const stored = (state: AgentState): AgentState =>
  AgentState.from(JSON.parse(JSON.stringify(state)));

/** Checks that the conversation is valid for a provider and that the next message is answered. */
export async function takesAnotherTurn(state: AgentState): Promise<void> {
  expect(state.messages.pairingProblem()).toBeNull();
  const agent = AgentBuilder.base()
    .withName(state.agentName ?? 'agent')
    .withDriver(DeterministicDriver.fromResponses('next'))
    .build();
  const next = await agent.run(stored(state).withUserMessage('and now?'));
  expect(next.output).toBe('next');
  expect(next.messages.pairingProblem()).toBeNull();
}
