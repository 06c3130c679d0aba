import type { ReactElement } from 'react';
import { outcomeParts } from '../../continuation/explain-outcome.ts';
import type { ContinuationOutcomeJSON } from '../../continuation/outcome.ts';
import { counted } from '../../number-text.ts';
import { Glyph, decisionGlyph } from '../glyphs.tsx';
import { decisiveEvaluation } from '../../trace/evaluations.ts';
import { CodeName } from './code-name.tsx';
import { EvaluationRow } from './evaluation-row.tsx';
import { meterOf, meterTexts } from './limit-meter.ts';
import { MeterView } from './meter-view.tsx';
import { groupByDecision, type EvaluationGroup } from './precedence.ts';

/** Renders what the deciding check said, with its meter. */
export function DecisionCard({
  outcome,
  isOver,
}: {
  readonly outcome: ContinuationOutcomeJSON;
  /** Whether the run stopped here; if not, more was allowed. */
  readonly isOver: boolean;
}): ReactElement {
  const { because, detail } = outcomeParts(outcome);
  const decisive = decisiveEvaluation(outcome);
  const meter = decisive ? meterOf(decisive) : null;
  const [used, limit] = meter ? meterTexts(meter) : ['', ''];
  const { shouldContinue, stopReason, resolvedBy, decision } = outcome;
  const eyebrow = shouldContinue
    ? 'Why it continued'
    : stopReason === 'completed'
      ? 'Why it finished'
      : 'Why it stopped';
  return (
    <section className="decision-card" data-says={decision} aria-label={eyebrow}>
      <Glyph name={decisionGlyph[decision]} size={20} />
      <div>
        <p className="decision-eyebrow">{eyebrow}</p>
        <h4>{sentenceOf(because)}</h4>
        {detail !== '' && <p>{detail}</p>}
        {meter && (
          <p className="decision-meter">
            <MeterView {...meter} />
            <b>{used}</b> of {limit}
          </p>
        )}
        {!isOver && !shouldContinue && (
          <p>More was allowed, and it continued with the next step.</p>
        )}
        <p className="decision-by">
          Decided by <CodeName name={resolvedBy} />
        </p>
      </div>
    </section>
  );
}

const sentenceOf = (clause: string): string =>
  `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;

const lines: Readonly<Record<EvaluationGroup['decision'], (count: number) => string>> = {
  forbid: (count) => `${counted(count, 'check')} stopped it`,
  request: (count) => `${counted(count, 'check')} asked to continue`,
  stop: (count) => `${counted(count, 'check')} ready to finish`,
  allow: (count) => `${counted(count, 'check')} allowed continuing`,
};

/** Renders the checks in one line for each group; the lines open. */
export function DecisionGroups({
  outcome,
}: {
  readonly outcome: ContinuationOutcomeJSON;
}): ReactElement {
  // the card has the check that decided
  const groups = groupByDecision(outcome)
    .map((group) =>
      group.isDecisive ? { ...group, evaluations: group.evaluations.slice(1) } : group,
    )
    .filter(({ evaluations }) => evaluations.length > 0);
  return (
    <div className="decision-groups">
      {groups.map((group) => (
        <details key={group.decision} data-decision={group.decision}>
          <summary>
            <Glyph name="chevron" size={10} />
            <span>
              {lines[group.decision](group.evaluations.length)}
              {group.isDecisive && ' too'}
            </span>
            <span className="decision-fact">{factOf(group)}</span>
          </summary>
          <ul>
            {group.evaluations.map((evaluation, i) => (
              <EvaluationRow
                key={`${evaluation.criterion}:${i}`}
                evaluation={evaluation}
                isDecisive={false}
              />
            ))}
          </ul>
        </details>
      ))}
      <details className="decision-how">
        <summary>
          <Glyph name="chevron" size={10} />
          <span>How decisions work</span>
        </summary>
        <ol>
          <li>After each step all checks are evaluated.</li>
          <li>If one stops it, the run stops: one is enough.</li>
          <li>Else, if one asks to continue, it continues.</li>
          <li>Else, if one is ready to finish, it finishes.</li>
          <li>Else it continues: no check decided otherwise.</li>
        </ol>
      </details>
    </div>
  );
}

/** Returns what a closed line says about its checks: a name, or a near miss. */
function factOf({ evaluations, decision }: EvaluationGroup): ReactElement | string | null {
  const near = evaluations.flatMap((evaluation) => {
    const meter = meterOf(evaluation);
    if (meter?.used === null || meter?.tone !== 'warn') return [];
    return evaluation.criterion === 'ErrorPolicyCriterion'
      ? [`${counted(meter.used, 'retry', 'retries')} used`]
      : [`${meterTexts(meter).join(' of ')} used`];
  });
  if (near.length > 0) return <span data-warns>{near.join(', ')}</span>;
  const [only] = evaluations;
  return decision !== 'allow' && evaluations.length === 1 && only ? (
    <CodeName name={only.criterion} />
  ) : null;
}
