import { msOf } from '../clock.ts';
import type { AgentStep } from './agent-step.ts';
import type { Run } from './run.ts';

/** Waits until a failed model call may be retried. An abort or the deadline ends the wait. */
export async function waitForRetry(run: Run, failed: AgentStep, waitMs: number): Promise<number> {
  const { execution } = run.state;
  if (failed.executionId !== execution.id || failed.number <= execution.handledStep) return 0;
  const began = run.now();
  const left = Math.min(waitMs, msOf(failed.startedAt) + failed.durationMs + waitMs - began);
  if (left <= 0) return 0;
  let stopTimer: (() => void) | undefined;
  const waiting = new Promise<void>((resolve) => {
    stopTimer = run.agent.clock.after(left, resolve);
  });
  await run.cancellation.race(waiting).catch(() => stopTimer?.());
  return run.now() - began;
}
