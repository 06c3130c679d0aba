import type { JsonSchema } from '../../tools/schema.ts';
import {
  count,
  flag,
  list,
  number,
  object,
  oneOfTexts,
  orNull,
  ref,
  text,
  time,
} from './shapes.ts';

const cost = orNull(number);
const scoreStatus = oneOfTexts(['pass', 'fail', 'skip', 'error']);
const summary = {
  format: oneOfTexts(['onward.eval']),
  version: count,
  suite: text,
  number: orNull(count),
  agent: orNull(text),
  model: orNull(text),
  startedAt: time,
  durationMs: number,
  repeats: count,
  passRate: number,
  concurrency: count,
  passed: flag,
  isAborted: flag,
  error: orNull(text),
  counts: object({ cases: count, passed: count, failed: count, notRun: count }),
  tokens: number,
  cost,
  judgeCost: cost,
};

/** Schemas of the routes for stored eval reports. */
export const evalSchemas: Readonly<Record<string, JsonSchema>> = {
  EvalSummary: object(summary),
  EvalSuites: object({
    suites: list(object({ name: text, runs: list(ref('EvalSummary')) })),
  }),
  StoredEvalReport: object({ report: orNull(ref('EvalReport')) }),
  EvalReport: object({
    ...summary,
    scorers: list(object({ name: text, label: text, passed: count, applied: count })),
    cases: list(ref('EvalCaseReport')),
    baseline: orNull(ref('EvalComparison')),
  }),
  EvalComparison: object({
    number: orNull(count),
    startedAt: time,
    change: number,
    regressed: list(text),
    fixed: list(text),
    added: list(text),
    removed: list(text),
    cost,
    durationMs: number,
  }),
  EvalCaseReport: object({
    name: text,
    tags: list(text),
    input: text,
    expected: orNull(text),
    status: oneOfTexts(['passed', 'failed', 'not_run']),
    passedRuns: count,
    steps: number,
    tokens: number,
    cost,
    durationMs: number,
    scores: list(
      object({
        scorer: text,
        status: scoreStatus,
        passed: count,
        applied: count,
        score: orNull(number),
      }),
    ),
    runs: list(ref('EvalRunReport')),
  }),
  EvalRunReport: object({
    number: count,
    status: oneOfTexts(['passed', 'failed', 'error', 'not_run']),
    error: orNull(text),
    stopReason: orNull(text),
    explanation: text,
    answer: text,
    steps: number,
    tokens: number,
    cost,
    durationMs: number,
    sessionId: orNull(text),
    executionId: orNull(text),
    calls: list(
      object({
        tool: text,
        args: text,
        step: count,
        agent: orNull(text),
        kind: text,
        error: orNull(text),
      }),
    ),
    scores: list(
      object(
        { scorer: text, status: scoreStatus, score: orNull(number), reason: text },
        { step: count, cost },
      ),
    ),
  }),
};
