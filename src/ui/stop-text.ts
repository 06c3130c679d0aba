import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { StopPayload } from '../broadcasting/envelope.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import { own } from '../json.ts';

/** Why a run stands still, in words for a person. */
export interface StopText {
  readonly title: string;
  readonly reason: string;
  /** What would let it go on; null where nothing has to. */
  readonly remedy: string | null;
}

const byReason: Partial<Record<StopReason, string>> = {
  steps_limit: 'Stopped at the step limit',
  token_limit: 'Stopped at the budget limit',
  time_limit: 'Stopped at the time limit',
  retry_limit: 'Failed too often',
  finish_reason: 'The answer broke off',
  guard: 'Stopped by a rule',
};

const byStatus: Readonly<Record<BroadcastStatus, string>> = {
  idle: 'Nothing has run yet',
  processing: 'Working',
  paused: 'Paused',
  completed: 'Completed',
  stopped: 'Stopped',
  cancelled: 'Cancelled',
  failed: 'Failed',
};

/** Takes a `UiStop`, or the payload of a status envelope as it is. */
export function stopText(
  stop: { readonly status: BroadcastStatus } & Partial<StopPayload>,
): StopText {
  const { status, stop_reason, stop_message = '', error_message } = stop;
  const title =
    (stop_reason && own<string>(byReason, stop_reason)) || own(byStatus, status) || status;
  const reason =
    error_message && !stop_message.includes(error_message)
      ? `${stop_message} ${error_message}`.trim()
      : stop_message;
  return { title, reason, remedy: status === 'completed' ? null : remedyText(stop) };
}

/** The option to raise is always named. */
function remedyText({ remedy }: Partial<StopPayload>): string | null {
  if (!remedy) return null;
  const { text, option } = remedy;
  const said = text.charAt(0).toUpperCase() + text.slice(1);
  return option === undefined || text.includes(option) ? said : `${said} Option: ${option}.`;
}

/** All of it in one line of text. */
export function stopLine(stop: Parameters<typeof stopText>[0]): string {
  const { title, reason, remedy } = stopText(stop);
  const parts = [reason === '' ? `${title}.` : `${title}. ${reason}`];
  if (remedy !== null) parts.push(`To go on: ${remedy}`);
  return parts.join(' ');
}
