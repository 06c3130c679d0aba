import type { ReactElement } from 'react';
import type { ContinuationEvaluation } from '../../continuation/evaluation.ts';
import { isCustomCriterion } from '../../continuation/built-in-criteria.ts';
import { CodeName } from './code-name.tsx';
import { MeterView } from './meter-view.tsx';
import { meterOf, meterTexts, type Meter } from './limit-meter.ts';

/** Renders one criterion: its name, its numbers, its recorded reason. */
export function EvaluationRow({
  evaluation,
  isDecisive,
}: {
  readonly evaluation: ContinuationEvaluation;
  readonly isDecisive: boolean;
}): ReactElement {
  const meter = meterOf(evaluation);
  return (
    <li
      className="evaluation-row"
      data-decisive={isDecisive || undefined}
      data-warns={meter?.tone === 'warn' || undefined}
    >
      <span className="evaluation-name">
        <CodeName name={evaluation.criterion} />
        {isCustomCriterion(evaluation.criterion) && (
          <span className="evaluation-custom">custom</span>
        )}
      </span>
      {meter && <MeterNumbers meter={meter} />}
      <p>{evaluation.reason}</p>
    </li>
  );
}

function MeterNumbers({ meter }: { readonly meter: Meter }): ReactElement {
  const [used, limit] = meterTexts(meter);
  return (
    <span className="evaluation-meter">
      <MeterView {...meter} />
      <b>{used}</b>
      <span aria-hidden="true">/</span>
      <span className="visually-hidden"> of </span>
      <span>{limit}</span>
    </span>
  );
}
