import type { AgentEvent } from '../../events/agent-event.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { progressText } from '../../tools/progress-text.ts';
import { visibleText } from '../../visible-text.ts';

/** Milliseconds between two notifications, and most of one call: a run may report without end. */
const INTERVAL_MS = 200;
const MAX_REPORTS = 1_000;
const MAX_TEXT = 300;

/** Sends one notification. */
export type Report = (progress: { readonly progress: number; readonly message: string }) => void;

/** What to follow: one execution, or the session from its newest event on. */
export interface Followed {
  readonly sessionId: string;
  readonly owner: string;
  readonly executionId?: string;
}

/** Reports the steps and calls of a run until the signal aborts. */
export async function reportProgress(
  runtime: SessionRuntime,
  { sessionId, owner, executionId }: Followed,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  const from =
    executionId === undefined ? await newest(runtime, sessionId, owner) : { executionId };
  let sent = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  for await (const { event } of runtime.follow(sessionId, { owner, signal, ...from })) {
    if (sent >= MAX_REPORTS) return;
    const message = event.type === 'gap' || event.type === 'worker' ? null : textOf(event);
    const now = runtime.clock.now();
    if (message === null || now - lastAt < INTERVAL_MS) continue;
    lastAt = now;
    sent += 1;
    report({ progress: sent, message: visibleText(message.slice(0, MAX_TEXT)) });
  }
}

async function newest(runtime: SessionRuntime, sessionId: string, owner: string): Promise<object> {
  const { executionId, seq } = await runtime.events(sessionId, { owner, limit: 1 });
  return executionId === null ? {} : { after: { executionId, seq } };
}

function textOf(event: AgentEvent): string | null {
  switch (event.type) {
    case 'AgentStepStarted':
      return event.parentAgentId === null ? `Step ${event.stepNumber}` : null;
    case 'ToolCallStarted':
      return `Calls ${event.tool}`;
    case 'ToolProgress':
      return `${event.tool}: ${progressText(event)}`;
    case 'ModelFallback':
      return `Continues with ${event.to}`;
    case 'StepFailed':
      return `Step ${event.stepNumber} failed`;
    default:
      return null;
  }
}
