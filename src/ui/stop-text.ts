import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { StopPayload } from '../broadcasting/envelope.ts';
import type { Grants } from '../continuation/grants.ts';
import { own } from '../json.ts';

/** Why a run does not continue, in words for a person. */
export interface StopText {
  readonly title: string;
  readonly reason: string;
  /** What to do now, and the option to raise; null where nothing has to be done. */
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

/** The texts of a `UiStop`, or of the payload of a status envelope as it is. */
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
  // from a server of an earlier release, or of your own
  const { stop_message = '', error_message } = stop;
  const title = stop_message || own(byStatus, status) || status;
  return {
    title,
    reason: (error_message !== stop_message && error_message) || '',
    remedy: status === 'completed' || !remedy ? null : `To continue: ${remedy.text}`,
  };
}

/** The grant that continues the run; undefined where none does. */
export function offeredGrant({ explanation, remedy }: Partial<StopPayload>): Grants | undefined {
  if (!explanation) return remedy?.grant;
  return explanation.actions.find(({ kind }) => kind === 'grant')?.grant;
}

/** All of it in one line of text. */
export function stopLine(stop: Parameters<typeof stopText>[0]): string {
  const { title, reason, remedy } = stopText(stop);
  return [title, reason, remedy ?? ''].filter(Boolean).join(' ');
}
