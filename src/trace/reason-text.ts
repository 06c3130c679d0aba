import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import type { ErrorFacts, LimitFacts } from '../continuation/facts.ts';
import { factsOf } from '../continuation/facts-of.ts';
import { counted, countText, exactMoneyText, secondsText } from '../number-text.ts';
import type { Session } from '../sessions/session.ts';
import { decisiveEvaluation } from './evaluations.ts';

/** Returns the reason for a session's status in a few words, for a list: `Step limit · 5 / 5`. */
export function reasonText(session: Session): string {
  const { status, executionStepCount: steps } = session;
  switch (status) {
    case 'pending':
      return 'Nothing sent yet';
    case 'in_progress':
      return `Working · step ${countText(steps + 1)}`;
    case 'paused':
      return pauseText(session);
    case 'completed':
      return steps === 0 ? 'Completed' : `Completed · ${counted(steps, 'step')}`;
    default:
      return stopText(session);
  }
}

function pauseText({ pendingApprovals, pendingInputs }: Session): string {
  const [first] = pendingApprovals;
  const [question] = pendingInputs;
  if (first && pendingApprovals.length === 1) return `${first.tool} needs approval`;
  if (first) return `${countText(pendingApprovals.length)} approvals needed`;
  if (!question) return 'Paused';
  return pendingInputs.length === 1
    ? `${question.tool} needs an answer`
    : `${countText(pendingInputs.length)} answers needed`;
}

function stopText(session: Session): string {
  const { status, stopReason, outcome, executionStepCount: step, phase, error } = session;
  if (phase === 'parked') return `Gave up · ${clipped(error ?? 'no reason was stored')}`;
  const plain = status === 'failed' ? 'Failed' : 'Stopped';
  const decisive = decisiveEvaluation(outcome);
  if (!decisive || stopReason === null) return plain;
  if (stopReason === 'user_requested')
    return step > 0 ? `Stopped by you at step ${countText(step)}` : 'Stopped by you';
  return factsText(decisive, plain);
}

const MAX_CHARS = 120;
const clipped = (text: string): string =>
  text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS - 1)}…` : text;

function factsText(decisive: ContinuationEvaluation, plain: string): string {
  const facts = factsOf(decisive);
  switch (facts.kind) {
    case 'limit':
      return facts.unit === 'repeats'
        ? `No progress · ${facts.toolName ?? 'a tool'}`
        : limitText(facts);
    case 'error':
      return errorText(facts);
    case 'finish':
      return facts.finishReason === 'content_filter'
        ? 'Answer blocked · content filter'
        : `Answer cut off · ${facts.finishReason}`;
    case 'stop_request':
      return facts.toolName === undefined ? plain : `${plain} · ${facts.toolName}`;
    // a run that could not start has no criterion to name
    case 'runtime':
      return plain;
    default:
      return `${plain} · ${decisive.criterion}`;
  }
}

function errorText({ errorType, toolName, attempts, maxRetries, policy, handling }: ErrorFacts) {
  // the text already says that a tool or a model has failed
  const isSaid = errorType === 'tool' || errorType === 'model';
  const kind = isSaid ? '' : ` · ${errorType === 'rate_limit' ? 'rate limit' : errorType}`;
  return policy === 'retry' && handling === 'stop' && attempts > maxRetries
    ? `Retry limit · ${countText(attempts - 1)} / ${countText(maxRetries)}${kind}`
    : `${toolName ?? 'Model call'} failed${kind}`;
}

const limitNames: Readonly<Record<LimitFacts['unit'], string>> = {
  steps: 'step limit',
  tokens: 'token limit',
  cost: 'cost limit',
  seconds: 'time limit',
  repeats: 'repeats',
};

function limitText({ unit, scope, used, limit, counts }: LimitFacts): string {
  const show = unit === 'cost' ? exactMoneyText : unit === 'seconds' ? secondsText : countText;
  const name = counts === undefined ? limitNames[unit] : `limit of ${counts}`;
  const whole =
    scope === 'session' ? `session ${name}` : scope === 'family' ? `${name} of all agents` : name;
  const title = whole.charAt(0).toUpperCase() + whole.slice(1);
  return `${title} · ${show(used ?? 0)} / ${show(limit)}${unit === 'seconds' ? ' s' : ''}`;
}
