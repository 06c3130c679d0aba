import type { ReactElement } from 'react';
import type { EvalComparison, EvalReport } from '../../evals/eval-report.ts';
import { counted, durationText, moneyText } from '../../number-text.ts';
import { changeText, shownCases, type ShownCases } from './eval-text.ts';

export interface EvalSummaryProps {
  readonly report: EvalReport;
  readonly comparison: EvalComparison | null;
  readonly shown: ShownCases;
  readonly onShow: (shown: ShownCases) => void;
}

const labels: Readonly<Record<ShownCases, string>> = {
  failed: 'Failed',
  regressed: 'Regressed',
  all: 'All',
};

/** Renders the numbers of a run, and which cases are shown. */
export function EvalSummaryBar({
  report,
  comparison,
  shown,
  onShow,
}: EvalSummaryProps): ReactElement {
  const { counts, cost, judgeCost, durationMs, concurrency, repeats } = report;
  const whole = cost === null || judgeCost === null ? null : cost + judgeCost;
  const numbers = {
    failed: counts.failed,
    regressed: comparison?.regressed.length ?? 0,
    all: counts.cases,
  };
  return (
    <div className="evals-summary">
      <div>
        <b>
          {counts.passed} <em>/ {counts.cases}</em>
        </b>
        <span>cases passed{counts.notRun > 0 && `, ${counts.notRun} did not run`}</span>
      </div>
      {comparison && (
        <div>
          <b data-bad={comparison.change < 0}>{changeText(comparison.change)}</b>
          <span>
            from baseline:{' '}
            {comparison.regressed.length > 0 ? (
              <button type="button" className="link" onClick={() => onShow('regressed')}>
                {comparison.regressed.length} regressed
              </button>
            ) : (
              'none regressed'
            )}
            {comparison.fixed.length > 0 && `, ${comparison.fixed.length} fixed`}
            {comparison.added.length > 0 && `, ${comparison.added.length} new`}
          </span>
        </div>
      )}
      <div>
        <b>{whole === null ? 'Unknown' : moneyText(whole)}</b>
        <span>
          cost
          {comparison && comparison.cost !== null && `, was ${moneyText(comparison.cost)}`}
        </span>
      </div>
      <div>
        <b>{durationText(durationMs)}</b>
        <span>
          {concurrency} at a time{repeats > 1 && `, ${counted(repeats, 'run')} each`}
        </span>
      </div>
      <div className="evals-shown" role="group" aria-label="Cases">
        {shownCases.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={shown === name}
            onClick={() => onShow(name)}
          >
            {labels[name]} {numbers[name]}
          </button>
        ))}
      </div>
    </div>
  );
}
