import type {
  CaseReport,
  CaseScore,
  EvalComparison,
  EvalReport,
  RunReport,
} from '../evals/index.ts';
import { problemsOf } from '../evals/run-problems.ts';
import { counted, durationText, moneyText } from '../number-text.ts';
import { oneLine } from './format.ts';
import type { Paint } from './paint.ts';
import { textTable, type Column } from './text-table.ts';

/** Maximum failed cases that are explained, and problems of each. */
const SHOWN_CASES = 20;
const SHOWN_PROBLEMS = 6;

/** Writes a table of cases and scorers, and why cases failed. */
export function evalLines(report: EvalReport, paint: Paint): readonly string[] {
  const { cases, error } = report;
  if (error !== null) return [paint('red', `✗ ${error}`)];
  const failed = cases.filter(({ status }) => status === 'failed');
  const hidden = failed.length - SHOWN_CASES;
  return [
    ...caseTable(report, paint),
    ...failed.slice(0, SHOWN_CASES).flatMap((one) => ['', ...failureLines(one, paint)]),
    ...(hidden > 0 ? ['', paint('dim', `… and ${counted(hidden, 'more failed case')}`)] : []),
    '',
    ...summaryLines(report, paint),
  ];
}

function caseTable({ scorers, cases, baseline }: EvalReport, paint: Paint): readonly string[] {
  const columns: readonly Column[] = [
    { title: '' },
    { title: 'CASE' },
    ...scorers.map(({ label }) => ({ title: oneLine(label, 20) })),
    { title: 'STEPS', align: 'right' },
    { title: 'COST', align: 'right' },
    { title: 'TIME', align: 'right' },
    { title: '' },
  ];
  const rows = cases.map((one) => [
    markOf(one.status),
    oneLine(one.name, 40),
    ...scorers.map(({ name }) => scoreText(one.scores.find(({ scorer }) => scorer === name))),
    String(one.steps),
    one.cost === null ? '?' : moneyText(one.cost),
    durationText(one.durationMs),
    changeOf(one, baseline),
  ]);
  const last = columns.length - 1;
  return textTable(columns, rows, paint, (text, column) => {
    if (text === '✓' || text === 'fixed') return paint('green', text);
    if (text.startsWith('✗') || text === 'regressed') return paint('red', text);
    return column === last || text === '–' ? paint('dim', text) : text;
  });
}

const markOf = (status: CaseReport['status']): string =>
  status === 'passed' ? '✓' : status === 'failed' ? '✗' : '–';

function scoreText(score: CaseScore | undefined): string {
  if (!score || score.status === 'skip') return '–';
  const mark = score.status === 'pass' ? '✓' : '✗';
  const rate = score.applied > 1 ? ` ${score.passed}/${score.applied}` : '';
  return `${mark}${rate}${score.score === null ? '' : ` ${score.score.toFixed(2)}`}`;
}

const changeOf = ({ name }: CaseReport, baseline: EvalComparison | null): string =>
  baseline?.regressed.includes(name) ? 'regressed' : baseline?.fixed.includes(name) ? 'fixed' : '';

function failureLines(one: CaseReport, paint: Paint): readonly string[] {
  const failed = one.runs.filter(({ status }) => status === 'failed' || status === 'error');
  const problems = [...new Set(failed.flatMap(problemsOf))];
  const rate = one.runs.length > 1 ? `  ${one.passedRuns} of ${one.runs.length} runs passed` : '';
  const hidden = problems.length - SHOWN_PROBLEMS;
  const session = failed.find(({ sessionId }) => sessionId !== null)?.sessionId;
  return [
    `${paint('red', '✗')} ${paint('bold', oneLine(one.name, 80))}${rate}`,
    ...problems.slice(0, SHOWN_PROBLEMS).map((problem) => `    ${oneLine(problem, 300)}`),
    ...(hidden > 0 ? [paint('dim', `    … and ${counted(hidden, 'more problem')}`)] : []),
    ...(session === undefined || session === null
      ? []
      : [paint('dim', `    onward explain ${session}`)]),
  ];
}

function summaryLines(report: EvalReport, paint: Paint): readonly string[] {
  const { counts, cost, judgeCost, durationMs, baseline, isAborted, repeats } = report;
  const passed = `${counts.passed} of ${counted(counts.cases, 'case')} passed`;
  const facts = [
    repeats > 1 ? `${repeats} runs each` : '',
    cost === null ? 'cost unknown' : moneyText(cost),
    judgeCost === null || judgeCost > 0
      ? `judges ${judgeCost === null ? '?' : moneyText(judgeCost)}`
      : '',
    durationText(durationMs),
  ].filter(Boolean);
  return [
    `${paint(report.passed ? 'green' : 'red', passed)} ${paint('dim', `· ${facts.join(' · ')}`)}`,
    ...(counts.notRun > 0 || isAborted
      ? [paint('yellow', `Aborted: ${counted(counts.notRun, 'case')} did not run to the end.`)]
      : []),
    ...(baseline ? [comparisonText(baseline)] : []),
  ];
}

/** Writes the change from a baseline in one line. */
function comparisonText({
  number,
  change,
  regressed,
  fixed,
  added,
  removed,
}: EvalComparison): string {
  const sign = change > 0 ? `+${change}` : change < 0 ? `−${-change}` : '±0';
  const parts = [
    namesText(regressed, 'regressed'),
    namesText(fixed, 'fixed'),
    added.length > 0 ? `${added.length} new` : '',
    removed.length > 0 ? `${removed.length} removed` : '',
  ].filter(Boolean);
  const from = number === null ? 'the baseline' : `run ${number}`;
  return `${change === 0 && parts.length === 0 ? 'No change' : sign} from ${from}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`;
}

const namesText = (names: readonly string[], what: string): string =>
  names.length === 0
    ? ''
    : `${names.length} ${what} (${names
        .slice(0, 5)
        .map((name) => oneLine(name, 40))
        .join(', ')}${names.length > 5 ? ', …' : ''})`;

/** Writes one finished run in a line, for progress. */
export const progressText = (
  name: string,
  { status, number }: RunReport,
  {
    done,
    total,
    repeats,
  }: { readonly done: number; readonly total: number; readonly repeats: number },
): string =>
  `${status === 'passed' ? '✓' : '✗'} ${oneLine(name, 50)}${repeats > 1 ? ` #${number}` : ''}  ${done}/${total}`;
