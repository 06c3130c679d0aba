import type { Pause } from '../agent/agent-state.ts';
import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import { grantNeeded, type GrantAllowance } from '../continuation/grant-allowance.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { PendingApproval } from '../events/agent-event.ts';
import { grantLabel, ifGranted } from './grant-text.ts';
import { becauseOf, isSessionWide, type StopCase } from './stop-because.ts';
import type { StopSentence } from './trace.ts';
import { decisiveEvaluation, isSoftLanding } from './evaluations.ts';
import { withoutFullStop } from '../sentence.ts';

export interface StopFacts {
  readonly status: BroadcastStatus;
  readonly outcome: ContinuationOutcomeJSON | null;
  readonly pause?: Pick<Pause, 'kind' | 'reason'> | null;
  readonly pendingApprovals?: readonly Pick<PendingApproval, 'tool'>[];
  /** The failure that ended it, where it is known. */
  readonly error?: Pick<ErrorRecord, 'message'> | null;
  /** The last recorded step of the execution. */
  readonly step?: number | null;
  /** What the owner may still grant; null or left out: no cap is known. */
  readonly allowance?: GrantAllowance | null;
}

/** Why a run stands still and what would let it go on; null while it works or has nothing to do. */
export function stopSentence(facts: StopFacts): StopSentence | null {
  const { status, outcome } = facts;
  if (status === 'processing' || status === 'idle') return null;
  if (status === 'paused') return pauseSentence(facts);
  const lead = leads[status] ?? 'Stopped because';
  const voice = decisiveEvaluation(outcome);
  if (!outcome || !voice) return plain(lead, facts.error?.message ?? nobodySaid[status] ?? status);
  const stop: StopCase = { outcome, voice, error: facts.error ?? null, step: facts.step ?? null };
  const { because, rest } = becauseOf(stop);
  if (status === 'completed') return { ...plain(lead, because), note: rest };
  const note = [rest, noteOf(stop)].filter(Boolean).join(' ') || null;
  return { lead, because, ...remedyOf(stop, facts.allowance ?? null), note };
}

const leads: Partial<Record<BroadcastStatus, string>> = {
  completed: 'Finished because',
  failed: 'Failed because',
};

const nobodySaid: Partial<Record<BroadcastStatus, string>> = {
  completed: 'there was nothing to do',
  failed: 'an error ended it',
};

const plain = (lead: string, because: string): StopSentence => ({
  lead,
  because: withoutFullStop(because),
  goOnIf: null,
  note: null,
  action: null,
});

const newMessage = { kind: 'message', label: 'New message' } as const;

function remedyOf(
  stop: StopCase,
  allowance: GrantAllowance | null,
): Pick<StopSentence, 'goOnIf' | 'action'> {
  const { outcome, voice } = stop;
  if (isParked(voice))
    return { goOnIf: 'you retried it', action: { kind: 'retry', label: 'Retry' } };
  const needed = grantNeeded(outcome.evaluations);
  if (needed && allowance?.grant === null)
    return {
      goOnIf: 'an operator raised the limit, or you sent a new message',
      action: newMessage,
    };
  if (needed) {
    const grant = allowance?.grant ?? needed;
    return {
      goOnIf: moreOf(stop) ?? ifGranted(grant),
      action: { kind: 'grant', grant, label: grantLabel(grant) },
    };
  }
  // of several that forbade, the one in the way is the one that takes no grant
  const inTheWay = isGrantable(voice) ? outcome.evaluations.find(isInTheWay) : voice;
  const option = inTheWay?.remedy?.option;
  if (inTheWay && isSessionWide(inTheWay) && option !== undefined)
    return { goOnIf: `${option} were raised and you sent a new message`, action: null };
  if (outcome.stopReason === 'guard')
    return { goOnIf: 'you sent a new message; no grant lifts this guard', action: newMessage };
  return { goOnIf: 'you sent a new message', action: newMessage };
}

/** The runtime has given it up for now, and says so. */
const isParked = ({ context }: ContinuationEvaluation): boolean => context['parked'] === true;

const isGrantable = ({ remedy }: ContinuationEvaluation): boolean =>
  Object.keys(remedy?.grant ?? {}).length > 0;

const isInTheWay = (voice: ContinuationEvaluation): boolean =>
  voice.decision === 'forbid' && !isGrantable(voice);

/** Where the one thing to grant has better words than its amount. */
function moreOf({ outcome, voice }: StopCase): string | null {
  const isAlone = outcome.evaluations.filter(({ decision }) => decision === 'forbid').length === 1;
  if (!isAlone) return null;
  if (outcome.stopReason === 'error' && voice.remedy?.grant?.retries === 1)
    return 'it could try once more';
  const isCut =
    outcome.stopReason === 'finish_reason' && voice.context['finishReason'] === 'length';
  return isCut && voice.remedy?.grant?.steps === 1
    ? 'it had 1 more step to finish the sentence'
    : null;
}

/** The one that the remedy names for this kind of error. */
const retrying = /ErrorPolicy\.retry(?:All\(\)|ToolErrors\(3\))/;

function noteOf({ outcome, voice }: StopCase): string | null {
  const { remedy, criterion } = voice;
  const isLimit = criterion.endsWith('Limit');
  if (isLimit && isSoftLanding(outcome)) return 'It answered with what it had.';
  const policy = retrying.exec(remedy?.text ?? '')?.[0];
  if (outcome.stopReason === 'error' && policy !== undefined)
    return `Such errors are retried with withErrorPolicy(${policy}).`;
  if (isLimit || !remedy || isGrantable(voice)) return null;
  return `To go on: ${remedy.text}`;
}

function pauseSentence({ pause, pendingApprovals = [] }: StopFacts): StopSentence {
  const lead = 'Waiting because';
  const many = pendingApprovals.length;
  if (many > 0) {
    const tools = [...new Set(pendingApprovals.map(({ tool }) => tool))].join(', ');
    return {
      ...plain(
        lead,
        many === 1 ? `${tools} needs your approval` : `${many} calls need your approval: ${tools}`,
      ),
      goOnIf: many === 1 ? 'you approved or denied it' : 'you approved or denied each of them',
    };
  }
  return {
    ...plain(lead, pauseReason(pause ?? null)),
    goOnIf: 'you resumed it',
    action: { kind: 'resume', label: 'Resume' },
  };
}

function pauseReason(pause: Pick<Pause, 'kind' | 'reason'> | null): string {
  if (pause?.kind === 'fork') return 'this is a copy that nobody has resumed yet';
  if (!pause?.reason || pause.reason === 'on request') return 'it was paused on request';
  return `it was paused: ${pause.reason}`;
}
