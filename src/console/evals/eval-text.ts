import type { CaseReport, CaseScore, RunReport } from '../../evals/eval-report.ts';
import type { EvalSummary } from '../../evals/eval-reports.ts';
import { clockText, dateText, daysBetween } from '../calendar.ts';

/** Which cases are shown. */
export const shownCases = ['failed', 'regressed', 'all'] as const;
export type ShownCases = (typeof shownCases)[number];

/** Formats when a run was: "today 13:20", "yesterday 09:05", "3 Nov 13:20". */
function whenText(startedAt: string, now: Date): string {
  const at = new Date(startedAt);
  if (Number.isNaN(at.getTime())) return '';
  const days = daysBetween(at, now);
  const day = days === 0 ? 'today' : days === 1 ? 'yesterday' : dateText(at, now);
  return `${day} ${clockText(at)}`;
}

/** Names a run in a menu: "#42 · today 13:20 · gpt-5". */
export const runText = ({ number, startedAt, model }: EvalSummary, now: Date): string =>
  [`#${number}`, whenText(startedAt, now), model ?? ''].filter(Boolean).join(' · ');

/** Formats a change with its sign: "+2", "−1", "±0". */
export const changeText = (change: number): string =>
  change > 0 ? `+${change}` : change < 0 ? `−${-change}` : '±0';

export type Mark = 'pass' | 'fail' | 'none';

/** The mark of a scorer in a row. A scorer that threw failed. */
export const markOf = (score: Pick<CaseScore, 'status'> | undefined): Mark =>
  !score || score.status === 'skip' ? 'none' : score.status === 'pass' ? 'pass' : 'fail';

/** Words of a mark for a screen reader. */
export const markText: Readonly<Record<Mark, string>> = {
  pass: 'passed',
  fail: 'failed',
  none: 'does not apply',
};

/** The number next to a mark: its mean score, or how many of several runs passed. */
export function scoreText(score: CaseScore | undefined, runs: number): string {
  if (!score || score.status === 'skip') return '';
  const rate = runs > 1 ? `${score.passed}/${score.applied}` : '';
  return [rate, score.score === null ? '' : score.score.toFixed(2)].filter(Boolean).join(' · ');
}

/** The run to show first: the first that failed, else the first. */
export const firstShown = ({ runs }: CaseReport): RunReport | undefined =>
  runs.find(({ status }) => status === 'failed' || status === 'error') ?? runs[0];

/** Rates for a count: "4 of 5 runs passed"; empty for one run. */
export const rateText = ({ runs, passedRuns }: CaseReport): string =>
  runs.length > 1 ? `${passedRuns} of ${runs.length} runs passed` : '';
