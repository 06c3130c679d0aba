import { ErrorPolicy, type Agent, type Session, type SessionRuntime } from 'onward';
import { mockTool, ScenarioStep, type MockTool } from 'onward/testing';
import { expect } from 'vitest';
import { ann, builderWith, followingDriver, gate, until, waiting } from './sessions.ts';

export { gated } from './approvals.ts';

/** A new session whose first message led to a pause. */
export async function paused(runtime: SessionRuntime, id: string): Promise<Session> {
  await runtime.create({ ...ann, id });
  const session = await runtime.send(id, 'go', waiting);
  expect(session.status).toBe('paused');
  return session;
}

export interface HeldTool {
  readonly tool: MockTool;
  open(): void;
  began(): Promise<true>;
}

/** A tool that waits until it is released. */
export function held(): HeldTool {
  const { passed, open } = gate();
  const tool = mockTool('slow', () => passed.then(() => 'ok'));
  return { tool, open, began: () => until(() => tool.calls.length > 0) as Promise<true> };
}

/** The session once no worker is busy with it. */
export const ended = (runtime: SessionRuntime, id: string): Promise<Session> =>
  until(async () => {
    const session = await runtime.get(id, ann);
    return session.status === 'in_progress' ? null : session;
  });

/** Sends unknown effects to the model without stopping the run. */
export const unknownEffects: ErrorPolicy = ErrorPolicy.ignoreToolErrors().withHandling(
  'unknown',
  'ignore',
);

/** An agent that pays, checks the payment and pays again if it is missing. Each payment adds `who` to `paid`. */
export function payingAgent(who: string, paid: string[]): Agent {
  const pay = mockTool('pay', () => {
    paid.push(who);
    return 'paid';
  });
  const lookUp = mockTool('look', () => (paid.length > 0 ? 'paid' : 'not paid'));
  const { toolCall, final } = ScenarioStep;
  const script = [toolCall('pay'), toolCall('look'), toolCall('pay'), final('done')];
  return builderWith(followingDriver(script), pay, lookUp).withErrorPolicy(unknownEffects).build();
}
