import type { BroadcastStatus } from '../../agent/agent-status.ts';
import type { AgentInfo } from '../../server/api.ts';

/** Returns why sending is blocked; null if it is not. */
export function blockedBy(
  status: BroadcastStatus,
  approvals: number,
  inputs: number,
): string | null {
  if (approvals > 1) return `Answer the ${approvals} approvals first`;
  if (approvals === 1) return 'Answer the approval first';
  if (inputs > 0)
    return inputs === 1 ? 'Answer the question first' : `Answer the ${inputs} questions first`;
  return status === 'paused' ? 'Paused: resume or stop it first' : null;
}

export function placeholderOf(status: BroadcastStatus, agent: AgentInfo | null): string {
  if (status === 'processing') return 'Queue a message';
  if (status === 'stopped' || status === 'failed' || status === 'cancelled')
    return 'Send a new message instead';
  return agent && status === 'idle' ? `Message ${agent.title}` : 'Send a message';
}
