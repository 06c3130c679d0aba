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

/** What ended it, in small letters behind the status; a reason that says no more than the status is left out. */
const causes: Readonly<Record<string, string>> = {
  steps_limit: 'steps limit',
  token_limit: 'token limit',
  time_limit: 'time limit',
  retry_limit: 'retries used up',
  error: 'error',
  finish_reason: 'answer cut',
  guard: 'guard',
};

export interface StatusFacts {
  readonly status: BroadcastStatus;
  readonly stopReason: string | null;
  /** How many calls wait for a person. */
  readonly approvals: number;
}

/** `Stopped · steps limit`, `Needs approval`: never a status without its reason where there is one. */
export function statusWords({ status, stopReason, approvals }: StatusFacts): string {
  if (status === 'paused' && approvals > 0) return 'Needs approval';
  const isStop = status === 'stopped' || status === 'failed';
  const cause = isStop && stopReason !== null ? (own(causes, stopReason) ?? stopReason) : null;
  return cause === null ? words[status] : `${words[status]} · ${cause}`;
}
