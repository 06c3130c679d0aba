import type { ContinuationOutcome } from '../continuation/outcome.ts';
import type { Remedy } from '../continuation/evaluation.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import type { EventOf } from '../events/agent-event.ts';
import type { StopPayload } from './envelope.ts';
import { sentence } from '../sentence.ts';

const openings: Readonly<Record<StopReason, string>> = {
  completed: 'Done',
  steps_limit: 'The limit of steps was reached',
  token_limit: 'The budget is used up',
  time_limit: 'The time is up',
  retry_limit: 'It failed too often',
  error: 'An error ended the run',
  finish_reason: 'The answer broke off',
  guard: 'A rule ended the run',
  user_requested: 'Stopped on request',
};

/** Why a run ended, in one sentence. */
export function stopMessage(outcome: ContinuationOutcome | null, status: string): string {
  if (outcome === null) return `The run is ${status}.`;
  const opening = openings[outcome.stopReason ?? 'completed'] ?? 'Stopped';
  return `${opening}: ${sentence(outcome.decisive?.reason ?? 'there was nothing to do')}`;
}

/** What a run waits for, and what lets it go on. */
export function pausePayload(event: EventOf<'AgentPaused'>): StopPayload {
  const { pendingApprovals } = event;
  const count = pendingApprovals.length;
  const tools = [...new Set(pendingApprovals.map(({ tool }) => tool))].join(', ');
  const what = count === 1 ? tools : `${count} calls: ${tools}`;
  return {
    stop_reason: null,
    stop_message:
      count === 0 ? pauseMessage(event) : `Waiting for a person to approve or deny ${what}.`,
    resolved_by: null,
    remedy: count === 0 ? resumeIt : count === 1 ? answerIt : answerThem,
    error_message: null,
    last_response: null,
  };
}

const pauseMessage = ({ kind, reason }: EventOf<'AgentPaused'>): string =>
  reason ? `Paused: ${sentence(reason)}` : `Paused (${kind}).`;

const answerIt: Remedy = Object.freeze({ text: 'approve or deny the call.' });
const answerThem: Remedy = Object.freeze({ text: 'approve or deny each call.' });
const resumeIt: Remedy = Object.freeze({ text: 'resume the session.' });
