import { messageOf } from '../errors/error-record.ts';
import { defaultRedactor } from '../errors/redactor.ts';
import { excerpt } from '../errors/excerpt.ts';
import { visibleLines } from '../visible-text.ts';
import { shortText } from './call-text.ts';
import { questionOf, type EvalCase } from './eval-case.ts';
import type { EvalRun } from './eval-run.ts';
import type {
  CallReport,
  CaseReport,
  CaseScore,
  RunReport,
  RunStatus,
  ScoreReport,
} from './eval-report.ts';
import { addCost } from '../inference/usage.ts';
import type { Score, Scorer } from './score.ts';

/** Maximum calls of a run in a report, and characters of its texts. */
const LISTED_CALLS = 50;
const INPUT_CHARS = 2_000;
const ANSWER_CHARS = 4_000;
const REASON_CHARS = 1_000;
const ARGS_CHARS = 500;

/** Makes foreign text of several lines safe for a report: redacted, shortened, without hidden characters. */
const longText = (text: string, max: number): string => visibleLines(excerpt(text, max));

/** Returns the report of a run and its scores. */
export function runReport(number: number, run: EvalRun, scores: readonly ScoreReport[]): RunReport {
  const failed = scores.some(({ status }) => status === 'fail');
  const broken = scores.some(({ status }) => status === 'error');
  const { output, outputText } = run;
  const answer =
    typeof output === 'object' && output !== null ? JSON.stringify(output) : outputText;
  return {
    number,
    status: broken ? 'error' : failed ? 'failed' : 'passed',
    error: null,
    stopReason: run.stopReason,
    explanation: longText(run.explanation, REASON_CHARS),
    answer: longText(answer, ANSWER_CHARS),
    steps: run.stepCount,
    tokens: run.usage.total,
    cost: run.cost,
    durationMs: Math.round(run.durationMs),
    sessionId: run.sessionId,
    executionId: run.executionId,
    calls: run.calls.slice(0, LISTED_CALLS).map(callReport),
    scores,
  };
}

const callReport = ({
  tool,
  args,
  step,
  agent,
  kind,
  error,
}: EvalRun['calls'][number]): CallReport => ({
  tool: shortText(tool, 100),
  args: shortText(JSON.stringify(args), ARGS_CHARS),
  step,
  agent: agent === null ? null : shortText(agent, 100),
  kind,
  error: error === null ? null : shortText(error, REASON_CHARS),
});

/** Returns the report of a run that threw, or did not run. */
export const emptyRun = (
  number: number,
  status: Extract<RunStatus, 'error' | 'not_run'>,
  error: unknown = null,
): RunReport => ({
  number,
  status,
  error: error === null ? null : longText(messageOf(error), REASON_CHARS),
  stopReason: null,
  explanation: '',
  answer: '',
  steps: 0,
  tokens: 0,
  cost: 0,
  durationMs: 0,
  sessionId: null,
  executionId: null,
  calls: [],
  scores: [],
});

export const scoreReport = (scorer: Scorer, score: Score): ScoreReport => ({
  scorer: scorer.name,
  status: score.status,
  score: score.score,
  reason: longText(score.reason, REASON_CHARS),
  ...(score.step !== undefined && { step: score.step }),
  ...(score.cost !== undefined && { cost: score.cost }),
});

export const brokenScore = (scorer: Scorer, error: unknown): ScoreReport => ({
  scorer: scorer.name,
  status: 'error',
  score: null,
  reason: longText(`The scorer failed: ${messageOf(error)}`, REASON_CHARS),
});

/** Returns the report of a case from its runs. */
export function caseReport(
  evalCase: EvalCase,
  runs: readonly RunReport[],
  { passRate, scorers }: { readonly passRate: number; readonly scorers: readonly Scorer[] },
): CaseReport {
  const done = runs.filter(({ status }) => status !== 'not_run');
  const passedRuns = runs.filter(({ status }) => status === 'passed').length;
  const { expected, tags = [], name } = evalCase;
  // a rate such as 0.8 of 5 has to be 4 in spite of rounding
  const isPassed = passedRuns >= passRate * runs.length - 1e-9;
  return {
    name: shortText(name, 200),
    tags: tags.map((tag) => shortText(tag, 100)),
    input: longText(questionOf(evalCase), INPUT_CHARS),
    expected:
      expected === undefined
        ? null
        : longText(JSON.stringify(defaultRedactor.value(expected)), INPUT_CHARS),
    status: isPassed ? 'passed' : done.length < runs.length ? 'not_run' : 'failed',
    passedRuns,
    steps: mean(done.map(({ steps }) => steps)) ?? 0,
    tokens: done.reduce((sum, { tokens }) => sum + tokens, 0),
    cost: done.reduce<number | null>((sum, { cost }) => addCost(sum, cost), 0),
    durationMs: done.reduce((sum, { durationMs }) => sum + durationMs, 0),
    scores: scorers.map((scorer) => caseScore(scorer.name, done, passRate)),
    runs,
  };
}

function caseScore(scorer: string, runs: readonly RunReport[], passRate: number): CaseScore {
  const all = runs.flatMap(({ scores }) => scores.filter((one) => one.scorer === scorer));
  const applied = all.filter(({ status }) => status !== 'skip');
  const passed = applied.filter(({ status }) => status === 'pass').length;
  const isPassed = passed >= passRate * applied.length - 1e-9;
  const broken = applied.some(({ status }) => status === 'error');
  return {
    scorer,
    status: applied.length === 0 ? 'skip' : isPassed ? 'pass' : broken ? 'error' : 'fail',
    passed,
    applied: applied.length,
    score: mean(all.flatMap(({ score }) => score ?? [])),
  };
}

const mean = (values: readonly number[]): number | null =>
  values.length === 0
    ? null
    : Math.round((values.reduce((a, b) => a + b, 0) / values.length) * 10_000) / 10_000;
