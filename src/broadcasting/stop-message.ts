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
  pendingInputs = [],
}: EventOf<'AgentPaused'>): StopPayload & StopTexts {
  const explanation = explainStatus({
    status: 'paused',
    pause: { kind, reason },
    pendingApprovals,
    pendingInputs,
  });
  const count = pendingApprovals.length;
  const asks = pendingInputs.length > 0;
  const texts = textsOf(explanation);
  return {
    stop_reason: null,
    stop_message: texts.stop_message,
    resolved_by: null,
    remedy: count === 1 ? answerIt : count > 1 ? answerThem : asks ? answerQuestions : resumeIt,
    error_message: null,
    last_response: null,
    explanation: texts.explanation,
  };
}

const answerIt: Remedy = Object.freeze({ text: 'approve or deny the call.' });
const answerThem: Remedy = Object.freeze({ text: 'approve or deny each call.' });
const answerQuestions: Remedy = Object.freeze({ text: 'answer each question.' });
const resumeIt: Remedy = Object.freeze({ text: 'resume the session.' });
