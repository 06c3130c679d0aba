import { isOpen, statusFacts } from '../agent/agent-status.ts';
import type { RunLog } from './run-log.ts';
import type { TraceBar } from './trace.ts';

/** Returns the agent behind a call, as a field of its bar; nothing if the call runs none. */
export function childFacts(
  log: RunLog,
  callId: string,
  isDone: boolean,
): Pick<TraceBar, 'child'> | null {
  const found = log.agentBehind(callId);
  if (!found) return null;
  const { name: agent, status, stopReason, steps, tokens, cost } = found;
  // an agent that was interrupted with its parent has no last event
  const shown = isDone && isOpen(status) ? 'stopped' : status;
  return {
    child: { agent, status: statusFacts(shown, stopReason).broadcast, steps, tokens, cost },
  };
}
