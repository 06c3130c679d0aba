import { AgentBuilder, AgentState, pairingProblem } from 'onward';
import { DeterministicDriver } from 'onward/testing';
import { expect } from 'vitest';

/** As another process would get it. */
export const stored = (state: AgentState): AgentState =>
  AgentState.from(JSON.parse(JSON.stringify(state)));

/** The conversation could go to a provider, and the next message is answered. */
export async function takesAnotherTurn(state: AgentState): Promise<void> {
  expect(pairingProblem(state.messages)).toBeNull();
  const agent = AgentBuilder.base()
    .withName(state.agentName ?? 'agent')
    .withDriver(DeterministicDriver.fromResponses('next'))
    .build();
  const next = await agent.run(stored(state).withUserMessage('and now?'));
  expect(next.output).toBe('next');
  expect(pairingProblem(next.messages)).toBeNull();
}
