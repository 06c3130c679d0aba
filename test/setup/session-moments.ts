import type { Session, SessionRuntime } from 'onward';
import { mockTool, type MockTool } from 'onward/testing';
import { expect } from 'vitest';
import { ann, gate, until, waiting } from './sessions.ts';

/** A tool that a person must allow. */
export const gated = (name = 'pay', answer: unknown = 'paid'): MockTool =>
  mockTool(name, answer, { needsApproval: true });

/** A new session whose first message ended in a pause. */
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

/** A tool that waits until it is let go. */
export function held(): HeldTool {
  const { passed, open } = gate();
  const tool = mockTool('slow', () => passed.then(() => 'ok'));
  return { tool, open, began: () => until(() => tool.calls.length > 0) as Promise<true> };
}

/** The session when no worker is busy with it. */
export const ended = (runtime: SessionRuntime, id: string): Promise<Session> =>
  until(async () => {
    const session = await runtime.get(id, ann);
    return session.status === 'in_progress' ? null : session;
  });
