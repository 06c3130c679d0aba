import type { ReactElement } from 'react';
import type { ContinuationOutcomeJSON } from '../../continuation/outcome.ts';
import { Glyph, decisionGlyph } from '../glyphs.tsx';
import { groupByDecision, type EvaluationGroup } from './precedence.ts';
import { EvaluationRow } from './evaluation-row.tsx';

/** Renders all checks in order of precedence; a line runs from the deciding one down to the decision. */
export function EvaluationList({
  outcome,
}: {
  readonly outcome: ContinuationOutcomeJSON;
}): ReactElement {
  const groups = groupByDecision(outcome);
  const decided = groups.findIndex(({ isDecisive }) => isDecisive);
  return (
    <div className="evaluation-list" data-says={outcome.decision}>
      {groups.map((group, i) => (
        <GroupView key={group.decision} group={group} isBelow={decided >= 0 && i > decided} />
      ))}
    </div>
  );
}

function GroupView({
  group,
  isBelow,
}: {
  readonly group: EvaluationGroup;
  readonly isBelow: boolean;
}): ReactElement {
  const { decision, name, evaluations, isDecisive, rule } = group;
  return (
    <section
      className="evaluation-group"
      data-decision={decision}
      data-decisive={isDecisive || undefined}
      data-below={isBelow || undefined}
      data-empty={evaluations.length === 0 || undefined}
    >
      <h4>
        <Glyph name={decisionGlyph[decision]} size={14} />
        <span>{name}</span>
        <span className="evaluation-group-count">
          {evaluations.length === 0 ? 'none' : evaluations.length}
        </span>
        {rule !== null && <span className="evaluation-group-rule">{rule}</span>}
      </h4>
      {evaluations.length > 0 && (
        <ul>
          {evaluations.map((evaluation, i) => (
            <EvaluationRow
              key={`${evaluation.criterion}:${i}`}
              evaluation={evaluation}
              isDecisive={isDecisive && i === 0}
            />
          ))}
        </ul>
      )}
    </section>
  );
}
