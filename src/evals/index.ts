export {
  defineEval,
  type EvalCases,
  type EvalDefinition,
  type EvalOptions,
} from './define-eval.ts';
export type { EvalCase, EvalCaseInput, EvalExpectation, ExpectedCall } from './eval-case.ts';
export {
  evalHarness,
  type EvalApprovals,
  type EvalHarness,
  type HarnessOptions,
} from './eval-harness.ts';
export { evalMatchers, type MatcherResult } from './eval-matchers.ts';
export {
  readEvalReport,
  type EvalReports,
  type EvalSuite,
  type EvalSummary,
} from './eval-reports.ts';
export type {
  CallReport,
  CaseReport,
  CaseScore,
  EvalComparison,
  EvalReport,
  RunReport,
  RunStatus,
  ScoreReport,
  ScorerReport,
} from './eval-report.ts';
export { evalRunOf } from './eval-run-of.ts';
export type { EvalCall, EvalRun } from './eval-run.ts';
export { compareReports } from './compare-reports.ts';
export { junitXml } from './junit-xml.ts';
export { parseDataset, type DatasetFormat, type ParseYaml } from './parse-dataset.ts';
export { caseFromExport, casesFromSessions, type SessionCasesOptions } from './session-cases.ts';
export type { EvalRecorder } from './record-run.ts';
export { runEval, type EvalProgress, type RunEvalOptions } from './run-eval.ts';
export type { Score, ScoreContext, Scorer } from './score.ts';
export {
  calledTool,
  calledTools,
  didNotCallTool,
  noFailedTools,
  type ArgsMatch,
  type CalledToolOptions,
  type CalledToolsOptions,
} from './scorers/call-scorers.ts';
export { scorer, type CustomResult, type CustomScorerOptions } from './scorers/custom-scorer.ts';
export { judge, type JudgeOptions } from './scorers/judge.ts';
export { maxCost, maxSeconds, maxSteps, maxTokens } from './scorers/limit-scorers.ts';
export { outputContains, outputEquals, outputMatchesSchema } from './scorers/output-scorers.ts';
export { stoppedBecause, type EndReason } from './scorers/stop-scorer.ts';
