import type { Remedy } from '../continuation/evaluation.ts';
import { explainStatus } from '../continuation/explain-status.ts';
import type { Explanation } from '../continuation/explanation.ts';
import type { ContinuationOutcome } from '../continuation/outcome.ts';
import type { EventOf } from '../events/agent-event.ts';
import type { StopPayload } from './envelope.ts';
import { wireExplanation } from './wire-explanation.ts';

type StopTexts = Pick<StopPayload, 'stop_message'> & Required<Pick<StopPayload, 'explanation'>>;

/** Explains why a run ended. */
export const stopTexts = (outcome: ContinuationOutcome | null, status: string): StopTexts =>
  textsOf(outcome ? outcome.explanation() : explainStatus({ status }));

const textsOf = (explanation: Explanation): StopTexts => ({
  stop_message: [explanation.headline, explanation.detail].filter(Boolean).join(' '),
  explanation: wireExplanation(explanation),
});

/** Explains why a run waits and how to continue it. */
export function pausePayload({
  kind,
  reason,
  pendingApprovals,
}: EventOf<'AgentPaused'>): StopPayload & StopTexts {
  const explanation = explainStatus({
    status: 'paused',
    pause: { kind, reason },
    pendingApprovals,
  });
  const count = pendingApprovals.length;
  const texts = textsOf(explanation);
  return {
    stop_reason: null,
    stop_message: texts.stop_message,
    resolved_by: null,
    remedy: count === 0 ? resumeIt : count === 1 ? answerIt : answerThem,
    error_message: null,
    last_response: null,
    explanation: texts.explanation,
  };
}

const answerIt: Remedy = Object.freeze({ text: 'approve or deny the call.' });
const answerThem: Remedy = Object.freeze({ text: 'approve or deny each call.' });
const resumeIt: Remedy = Object.freeze({ text: 'resume the session.' });
