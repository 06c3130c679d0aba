import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { StopPayload } from '../broadcasting/envelope.ts';
import type { Grants } from '../continuation/grants.ts';
import { own } from '../json.ts';

/** Why a run does not continue, as text for users. */
export interface StopText {
  readonly title: string;
  readonly reason: string;
  /** What to do now, and the option to raise; null if there is nothing to do. */
  readonly remedy: string | null;
}

const byStatus: Readonly<Record<BroadcastStatus, string>> = {
  idle: 'Nothing has run yet.',
  processing: 'Working.',
  paused: 'Paused.',
  completed: 'Completed.',
  stopped: 'Stopped.',
  cancelled: 'Cancelled.',
  failed: 'Failed.',
};

/** Returns the texts of a `UiStop`, or of the payload of a status envelope. */
export function stopText(
  stop: { readonly status: BroadcastStatus } & Partial<StopPayload>,
): StopText {
  const { status, explanation, remedy } = stop;
  if (explanation) {
    const { headline, detail, actions } = explanation;
    const [first] = actions;
    const option = remedy?.option === undefined ? '' : ` Option: ${remedy.option}.`;
    return { title: headline, reason: detail, remedy: first ? `${first.text}${option}` : null };
  }
  // from a server of an earlier release, or your own
  const { stop_message = '', error_message } = stop;
  const title = stop_message || own(byStatus, status) || status;
  return {
    title,
    reason: (error_message !== stop_message && error_message) || '',
    remedy: status === 'completed' || !remedy ? null : `To continue: ${remedy.text}`,
  };
}

/** What a button does about a stop. */
export type StopControl =
  | { readonly kind: 'grant'; readonly grant: Grants }
  /** Of a run that was paused on request. */
  | { readonly kind: 'resume' }
  /** Of a parked session. */
  | { readonly kind: 'retry' };

/** The first action that a button can take; null where there is only a text to read, or a message to send. */
export function stopControl({
  status,
  explanation,
  remedy,
}: { readonly status: BroadcastStatus } & Partial<StopPayload>): StopControl | null {
  if (!explanation) {
    if (remedy?.grant) return { kind: 'grant', grant: remedy.grant };
    return status === 'paused' ? { kind: 'resume' } : null;
  }
  for (const { kind, grant } of explanation.actions) {
    if (kind === 'grant' && grant) return { kind, grant };
    if (kind === 'resume' || kind === 'retry') return { kind };
  }
  return null;
}

/** Returns all of it in one line. */
export function stopLine(stop: Parameters<typeof stopText>[0]): string {
  const { title, reason, remedy } = stopText(stop);
  return [title, reason, remedy ?? ''].filter(Boolean).join(' ');
}
