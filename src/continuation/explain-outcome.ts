import { listText, withoutFullStop } from '../sentence.ts';
import { alsoText, becauseOf } from './because.ts';
import { decisiveOf } from './decisive.ts';
import { actionsOf } from './explain-actions.ts';
import type { ExplainOptions, Explanation, ExplanationParts } from './explanation.ts';
import type { ContinuationEvaluation } from './evaluation.ts';
import { factsOf } from './facts-of.ts';
import { failureText } from './model-failure.ts';
import { obstaclesOf } from './needed-grant.ts';
import type { ContinuationOutcomeJSON, DeniedCall, OutcomeNotes, StoppedAgent } from './outcome.ts';
import type { StopReason } from './stop-reason.ts';

/** Explains why a run stopped or continued, and lists the possible actions. */
export function explainOutcome(
  outcome: ContinuationOutcomeJSON,
  options: ExplainOptions = {},
): Explanation {
  const { lead, because, detail } = outcomeParts(outcome);
  return {
    headline: `${lead} ${because}.`,
    detail,
    decidedBy: outcome.resolvedBy,
    stopReason: outcome.stopReason,
    actions: actionsOf(outcome, decisiveOf(outcome.evaluations), options),
  };
}

export function outcomeParts(outcome: ContinuationOutcomeJSON): ExplanationParts {
  const { evaluations, shouldContinue, stopReason } = outcome;
  const decisive = decisiveOf(evaluations);
  if (shouldContinue) {
    const changed = modelChange(evaluations);
    if (changed) return changed;
    const reason = withoutFullStop(decisive?.reason ?? '') || 'no criterion objected';
    return { lead: 'Continued because', because: reason, detail: '' };
  }
  const reason = stopReason ?? 'completed';
  const { because, detail } = decisive
    ? becauseOf(decisive, evaluations)
    : { because: unrecorded[reason] ?? 'it ended', detail: '' };
  const also = reason === 'completed' ? [] : otherLimits(evaluations, decisive);
  return {
    lead: leads[reason] ?? 'Stopped because',
    because,
    detail: [detail, ...also, ...noteTexts(outcome)].filter(Boolean).join(' '),
  };
}

/** Explains that the run continued with another model or a shorter request; undefined if it did not. */
function modelChange(evaluations: readonly ContinuationEvaluation[]): ExplanationParts | undefined {
  for (const evaluation of evaluations) {
    const facts = factsOf(evaluation);
    if (facts.kind !== 'error') continue;
    if (facts.handling === 'compact')
      return {
        lead: 'Continued with a shorter request because',
        because: 'the conversation was too long for the model',
        detail: '',
      };
    if (facts.fallback === undefined) continue;
    const { model = 'the model', code, message = '', fallback } = facts;
    return {
      lead: `Continued with ${fallback} because`,
      because: failureText({ model, code, message }),
      detail: '',
    };
  }
  return undefined;
}

const leads: Partial<Record<StopReason, string>> = {
  completed: 'Finished because',
  error: 'Failed because',
  retry_limit: 'Failed because',
};

/** Texts for records that hold only a stop reason. */
const unrecorded: Readonly<Record<StopReason, string>> = {
  completed: 'there was nothing to do',
  steps_limit: 'it reached the step limit',
  token_limit: 'it reached the token limit',
  time_limit: 'it reached the time limit',
  retry_limit: 'it failed too often',
  error: 'an error ended it',
  finish_reason: 'the answer was not complete',
  guard: "one of this assistant's rules ended it",
  user_requested: 'a stop was requested',
};

/** Sentences about nested agents that stopped early and calls that were denied. */
export const noteTexts = ({ stoppedAgents = [], deniedCalls = [] }: OutcomeNotes): string[] => [
  ...stoppedAgents.map(earlyText),
  ...(deniedCalls.length > 0 ? [deniedText(deniedCalls)] : []),
];

/** Most tools that the text names. */
const MOST_NAMES = 3;

function deniedText(calls: readonly DeniedCall[]): string {
  const names = calls.slice(0, MOST_NAMES).map(({ tool }) => tool);
  const all = listText(calls.length > MOST_NAMES ? [...names, 'other tools'] : names);
  const isOne = calls.length === 1;
  const by = calls[0]?.by ?? null;
  const who = by !== null && calls.every((call) => call.by === by) ? ` by ${by}` : '';
  return `${all} ${isOne ? 'was' : 'were'} denied${who} and did not run. To run ${isOne ? 'it' : 'them'}, ask again and approve.`;
}

const earlyText = ({ agent, stopReason }: StoppedAgent): string =>
  `The agent ${agent} stopped early: ${early[stopReason] ?? 'it was stopped'}.`;

const early: Readonly<Record<StopReason, string>> = {
  ...unrecorded,
  completed: 'it had finished',
  guard: 'a rule ended it',
};

const otherLimits = (
  evaluations: readonly ContinuationEvaluation[],
  decisive: ContinuationEvaluation | undefined,
): string[] =>
  obstaclesOf(evaluations).flatMap(({ evaluation, facts }) =>
    evaluation === decisive || facts.kind !== 'limit' || facts.unit === 'repeats'
      ? []
      : [alsoText(facts)],
  );
