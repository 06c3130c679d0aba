import type { RunReport } from './eval-report.ts';

/** Lists why a run failed: what was thrown, then each failed scorer. */
export const problemsOf = ({ error, scores }: RunReport): readonly string[] => [
  ...(error === null ? [] : [error]),
  ...scores
    .filter(({ status }) => status === 'fail' || status === 'error')
    .map(({ scorer, score, reason }) => `${scorer}${score === null ? '' : ` ${score}`}: ${reason}`),
];
