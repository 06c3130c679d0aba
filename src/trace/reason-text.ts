import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import type { Session } from '../sessions/session.ts';
import { counted, countText, exactMoneyText, secondsText } from './number-text.ts';
import { words } from './stop-because.ts';
import { decisiveEvaluation, numberIn, textIn } from './evaluations.ts';

/** Why a session stands as it does, in a few words for a list: `Steps limit · 5 / 5`. */
export function reasonText(session: Session): string {
  const { status, pendingApprovals, executionStepCount: steps } = session;
  switch (status) {
    case 'pending':
      return 'Nothing sent yet';
    case 'in_progress':
      return `Working · step ${countText(steps + 1)}`;
    case 'paused':
      return pauseText(pendingApprovals);
    case 'completed':
      return steps === 0 ? 'Completed' : `Completed · ${counted(steps, 'step')}`;
    default:
      return stopText(session);
  }
}

function pauseText(pending: Session['pendingApprovals']): string {
  const [first] = pending;
  if (first === undefined) return 'Paused';
  return pending.length === 1
    ? `${first.tool} needs approval`
    : `${countText(pending.length)} approvals needed`;
}

function stopText(session: Session): string {
  const { status, stopReason, outcome, executionStepCount: step, phase, error } = session;
  if (phase === 'parked') return `Parked · ${clipped(error ?? 'no reason was kept')}`;
  const plain = status === 'failed' ? 'Failed' : 'Stopped';
  const evaluation = decisiveEvaluation(outcome);
  if (!evaluation || stopReason === null) return plain;
  if (stopReason === 'user_requested')
    return step > 0 ? `Stopped by you at step ${countText(step)}` : 'Stopped by you';
  // a run that could not begin has no criterion to name
  if (evaluation.criterion === 'SessionRuntime') return plain;
  return texts[stopReason]?.(evaluation) ?? `${plain} · ${evaluation.criterion}`;
}

const MOST = 120;
const clipped = (text: string): string =>
  text.length > MOST ? `${text.slice(0, MOST - 1)}…` : text;

const texts: Partial<Record<StopReason, (evaluation: ContinuationEvaluation) => string | null>> = {
  steps_limit: (evaluation) => limitText(evaluation, 'steps limit', countText),
  token_limit: (evaluation) => limitText(evaluation, 'token limit', countText),
  time_limit: (evaluation) => limitText(evaluation, 'time limit', secondsText, ' s'),
  retry_limit: (evaluation) => {
    const failures = numberIn(evaluation, 'consecutiveFailures');
    const retries = numberIn(evaluation, 'maxRetries');
    const type = textIn(evaluation, 'errorType');
    if (failures === null || retries === null) return null;
    const used = `Retry limit · ${countText(failures - 1)} / ${countText(retries)}`;
    return `${used}${kindOf(type)}`;
  },
  error: (evaluation) => {
    const type = textIn(evaluation, 'errorType');
    const tool = textIn(evaluation, 'toolName');
    if (type === null) return null;
    return `${tool ?? 'Model call'} failed${kindOf(type)}`;
  },
  finish_reason: (evaluation) => {
    const reason = textIn(evaluation, 'finishReason');
    return reason === null ? null : `Answer cut · ${words(reason)}`;
  },
  guard: (evaluation) => {
    if (evaluation.criterion.endsWith('CostLimit'))
      return limitText(evaluation, 'cost limit', exactMoneyText);
    const tool = evaluation.criterion === 'NoProgressLimit' ? textIn(evaluation, 'toolName') : null;
    return tool === null ? null : `No progress · ${tool}`;
  },
};

/** That a tool or a model has failed is said already. */
const kindOf = (type: string | null): string =>
  type === null || type === 'tool' || type === 'model' ? '' : ` · ${words(type)}`;

function limitText(
  evaluation: ContinuationEvaluation,
  name: string,
  amount: (value: number) => string,
  unit: string = '',
): string | null {
  const used = numberIn(evaluation, 'used');
  const limit = numberIn(evaluation, 'limit');
  if (used === null || limit === null) return null;
  const isOfAll =
    evaluation.criterion === 'FamilyStepsLimit' || textIn(evaluation, 'scope') === 'family';
  const own = isOfAll ? `${name} of all agents` : name;
  const whole = evaluation.criterion.startsWith('Session') ? `session ${name}` : own;
  const title = whole.charAt(0).toUpperCase() + whole.slice(1);
  return `${title} · ${amount(used)} / ${amount(limit)}${unit}`;
}
