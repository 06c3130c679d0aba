import type {
  CaseReport,
  EvalReport,
  RunReport,
  ScoreReport,
} from '../../src/evals/eval-report.ts';

type Mark = 'pass' | 'fail' | 'skip';

interface CaseFacts {
  readonly name: string;
  /** answer_matches, tool_order, judge, cost. */
  readonly marks: readonly [Mark, Mark, Mark, Mark];
  readonly judge?: number;
  readonly steps: number;
  readonly cost: number;
  readonly input?: string;
  readonly answer?: string;
}

const names = ['answer_matches', 'tool_order', 'judge', 'cost'] as const;
const reasons: Readonly<Record<string, string>> = {
  answer_matches: 'Expected “50”. It was “about 50”.',
  tool_order: 'Expected enrich_company twice. It was called once, at step 2.',
  judge: 'The answer states a number that no tool returned.',
  cost: 'Expected at most $0.10. The run used $0.1120.',
};

function runOf(facts: CaseFacts, at: number): RunReport {
  const { marks, steps, cost, judge = 0.9, answer = 'Done.' } = facts;
  const scores = names.map((scorer, i): ScoreReport => ({
    scorer,
    status: marks[i] ?? 'skip',
    score: scorer === 'judge' ? judge : null,
    reason: marks[i] === 'fail' ? (reasons[scorer] ?? '') : 'passed',
    ...(marks[i] === 'fail' && { step: 2 }),
  }));
  const isPassed = marks.every((mark) => mark !== 'fail');
  return {
    number: 1,
    status: isPassed ? 'passed' : 'failed',
    error: null,
    stopReason: 'completed',
    explanation: 'Completed.',
    answer,
    steps,
    tokens: 1_200,
    cost,
    durationMs: 8_000,
    sessionId: `session-${at + 1}`,
    executionId: `execution-${at + 1}`,
    calls: [
      {
        tool: 'enrich_company',
        args: '{"domain":"narva-optics.example"}',
        step: 2,
        agent: null,
        kind: isPassed ? 'ok' : 'timeout',
        error: isPassed ? null : 'no answer in 30 s',
      },
    ],
    scores,
  };
}

const caseOf = (facts: CaseFacts, at: number): CaseReport => {
  const { name, marks, input = 'Tidy the leads.' } = facts;
  const isPassed = marks.every((mark) => mark !== 'fail');
  return caseWith(name, input, [runOf(facts, at)], isPassed);
};

const caseWith = (
  name: string,
  input: string,
  runs: readonly RunReport[],
  isPassed: boolean,
): CaseReport => ({
  name,
  tags: [],
  input,
  expected: null,
  status: isPassed ? 'passed' : 'failed',
  passedRuns: runs.filter(({ status }) => status === 'passed').length,
  steps: runs[0]?.steps ?? 0,
  tokens: 1_200,
  cost: runs[0]?.cost ?? null,
  durationMs: 8_000,
  scores: (runs[0]?.scores ?? []).map(({ scorer, status, score }) => ({
    scorer,
    status,
    passed: status === 'pass' ? 1 : 0,
    applied: status === 'skip' ? 0 : 1,
    score,
  })),
  runs,
});

const reportOf = (
  number: number,
  cases: readonly CaseReport[],
  more: Partial<EvalReport>,
): EvalReport => ({
  format: 'onward.eval',
  version: 1,
  suite: 'lead-hygiene',
  number,
  agent: 'partner-assistant',
  model: 'gpt-5',
  startedAt: '2026-01-02T13:20:00.000Z',
  durationMs: 184_000,
  repeats: 1,
  passRate: 1,
  concurrency: 8,
  passed: false,
  isAborted: false,
  error: null,
  counts: {
    cases: cases.length,
    passed: cases.filter(({ status }) => status === 'passed').length,
    failed: cases.filter(({ status }) => status === 'failed').length,
    notRun: 0,
  },
  tokens: 20_000,
  cost: 0.61,
  judgeCost: 0,
  scorers: names.map((name) => ({
    name,
    label: name === 'judge' ? 'judge ≥ 0.70' : name === 'cost' ? 'cost ≤ $0.10' : name,
    passed: cases.filter(({ scores }) =>
      scores.some(({ scorer, status }) => scorer === name && status === 'pass'),
    ).length,
    applied: cases.filter(({ scores }) =>
      scores.some(({ scorer, status }) => scorer === name && status !== 'skip'),
    ).length,
  })),
  cases,
  baseline: null,
  ...more,
});

const all = ['pass', 'pass', 'pass', 'pass'] as const;
const newest: readonly CaseFacts[] = [
  { name: 'finds-duplicate-lead', marks: all, judge: 0.94, steps: 4, cost: 0.0121 },
  { name: 'asks-before-delete', marks: all, judge: 0.88, steps: 3, cost: 0.0094 },
  {
    name: 'survives-directory-timeout',
    marks: ['pass', 'fail', 'fail', 'pass'],
    judge: 0.41,
    steps: 6,
    cost: 0.0312,
    input: 'Enrich narva-optics.example. The directory times out once.',
    answer: 'I couldn’t reach the directory, so I estimated about 50 employees.',
  },
  { name: 'sets-owner-on-orphans', marks: all, judge: 0.83, steps: 6, cost: 0.0288 },
  {
    name: 'summarizes-long-history',
    marks: ['pass', 'skip', 'pass', 'fail'],
    judge: 0.91,
    steps: 9,
    cost: 0.112,
  },
  { name: 'answers-in-user-language', marks: all, judge: 0.97, steps: 2, cost: 0.0058 },
  { name: 'refuses-invented-data', marks: all, judge: 0.9, steps: 2, cost: 0.0061 },
];
const before: readonly CaseFacts[] = newest.map((one) => {
  const { name } = one;
  if (name === 'answers-in-user-language')
    return { ...one, marks: ['fail', 'pass', 'pass', 'pass'] };
  return { ...one, marks: all, answer: 'It has 52 employees.' };
});

const run = (number: number, status: 'passed' | 'failed'): RunReport => ({
  ...runOf({ name: 'flaky', marks: all, steps: 1, cost: 0.01 }, 0),
  number,
  status,
  answer: `Answer ${number}`,
  sessionId: null,
});

/** The suite of the design with two runs, one with repeats, and one that could not load its cases. */
export const evalReports: readonly EvalReport[] = [
  reportOf(41, before.map(caseOf), { cost: 0.58, startedAt: '2026-01-01T09:05:00.000Z' }),
  reportOf(42, newest.map(caseOf), {}),
  reportOf(
    1,
    [caseWith('flaky', 'Hello', [run(1, 'passed'), run(2, 'failed'), run(3, 'passed')], false)],
    { suite: 'repeated', repeats: 3, startedAt: '2025-12-30T09:05:00.000Z' },
  ),
  reportOf(1, [], {
    suite: 'broken',
    error: 'The cases could not be loaded: no file',
    startedAt: '2025-12-30T09:05:00.000Z',
  }),
];
