import type { CaseReport, EvalComparison, EvalReport } from './eval-report.ts';

/** What a comparison reads of a report. */
type Compared = Pick<EvalReport, 'number' | 'startedAt' | 'cost' | 'durationMs'> & {
  readonly cases: readonly Pick<CaseReport, 'name' | 'status'>[];
};

/** Compares a report with an earlier one of its suite. Cases that did not run now are left out. */
export function compareReports(
  { cases }: Pick<Compared, 'cases'>,
  baseline: Compared,
): EvalComparison {
  const before = new Map(baseline.cases.map(({ name, status }) => [name, status === 'passed']));
  const now = new Set(cases.map(({ name }) => name));
  const known = cases.filter(({ name, status }) => status !== 'not_run' && before.has(name));
  const isPassed = ({ status }: Pick<CaseReport, 'status'>): boolean => status === 'passed';
  const regressed = known.filter((one) => before.get(one.name) === true && !isPassed(one));
  const fixed = known.filter((one) => before.get(one.name) === false && isPassed(one));
  return {
    number: baseline.number,
    startedAt: baseline.startedAt,
    change: cases.filter(isPassed).length - baseline.cases.filter(isPassed).length,
    regressed: regressed.map(({ name }) => name),
    fixed: fixed.map(({ name }) => name),
    added: cases.filter(({ name }) => !before.has(name)).map(({ name }) => name),
    removed: baseline.cases.map(({ name }) => name).filter((name) => !now.has(name)),
    cost: baseline.cost,
    durationMs: baseline.durationMs,
  };
}
