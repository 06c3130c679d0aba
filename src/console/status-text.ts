import type { BroadcastStatus } from '../agent/agent-status.ts';
import { own } from '../json.ts';

const words: Readonly<Record<BroadcastStatus, string>> = {
  idle: 'Ready',
  processing: 'Working',
  paused: 'Paused',
  completed: 'Completed',
  stopped: 'Stopped',
  failed: 'Failed',
  cancelled: 'Stopped by you',
};

/** Stop reasons in lowercase after the status; one that adds nothing is omitted. */
const causes: Readonly<Record<string, string>> = {
  steps_limit: 'step limit',
  token_limit: 'token limit',
  time_limit: 'time limit',
  retry_limit: 'retries used up',
  error: 'error',
  finish_reason: 'answer cut off',
  guard: 'guard',
};

/** Returns a stop reason in lowercase words. */
export const causeText = (stopReason: string): string => own(causes, stopReason) ?? stopReason;

export interface StatusFacts {
  readonly status: BroadcastStatus;
  readonly stopReason: string | null;
  /** Number of calls that need approval. */
  readonly approvals: number;
  /** Number of questions of tools. */
  readonly inputs?: number;
}

/** Returns `Stopped · step limit` or `Needs approval`: a status always has its reason, if there is one. */
export function statusText({ status, stopReason, approvals, inputs = 0 }: StatusFacts): string {
  if (status === 'paused' && approvals > 0) return 'Needs approval';
  if (status === 'paused' && inputs > 0) return 'Needs an answer';
  const isStop = status === 'stopped' || status === 'failed';
  const cause = isStop && stopReason !== null ? causeText(stopReason) : null;
  return cause === null ? words[status] : `${words[status]} · ${cause}`;
}
