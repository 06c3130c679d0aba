import { isoTime, systemClock, type Clock } from '../clock.ts';
import { whole } from '../errors/agent-error.ts';
import { addCost } from '../inference/usage.ts';
import { excerpt } from '../errors/excerpt.ts';
import { messageOf } from '../errors/error-record.ts';
import { compareReports } from './compare-reports.ts';
import { checkedRepeats, scorersOf, type EvalDefinition } from './define-eval.ts';
import { readCases, type EvalCase } from './eval-case.ts';
import {
  REPORT_VERSION,
  type CaseReport,
  type EvalReport,
  type RunReport,
  type ScorerReport,
  type ScoreReport,
} from './eval-report.ts';
import type { EvalRun } from './eval-run.ts';
import { brokenScore, caseReport, emptyRun, runReport, scoreReport } from './run-report.ts';
import type { EvalRecorder } from './record-run.ts';
import type { Scorer } from './score.ts';

/** A finished run of a case, for progress. */
export interface EvalProgress {
  readonly suite: string;
  readonly case: string;
  readonly run: RunReport;
  /** Runs that are done, of all. */
  readonly done: number;
  readonly total: number;
}

export interface RunEvalOptions {
  /** Overrides those of the eval. */
  readonly repeats?: number;
  readonly concurrency?: number;
  /** Only cases whose name or tags contain this text, in any case. */
  readonly filter?: string;
  /** Ends the eval: what runs is aborted, and the report says what did not run. */
  readonly signal?: AbortSignal;
  /** Report to compare with. */
  readonly baseline?: EvalReport;
  /** Records each run as a session, so that the console shows its trace. Default: runs are not recorded. */
  readonly record?: EvalRecorder;
  readonly onProgress?: (progress: EvalProgress) => void;
  readonly clock?: Clock;
}

/** Runs an eval and returns its report. A failing case never ends it: whatever a case throws is in the report. */
export async function runEval(
  definition: EvalDefinition,
  options: RunEvalOptions = {},
): Promise<EvalReport> {
  const { clock = systemClock, signal = new AbortController().signal, baseline } = options;
  const repeats = checkedRepeats(options.repeats ?? definition.repeats);
  const concurrency = whole('concurrency', options.concurrency ?? definition.concurrency);
  const startedAt = clock.now();
  const loaded = await loadCases(definition, options.filter);
  const plan = loaded.cases.map((evalCase) => ({
    evalCase,
    scorers: scorersOf(definition, evalCase),
    runs: Array.from({ length: repeats }, (_, i) => emptyRun(i + 1, 'not_run')),
  }));
  const jobs = plan.flatMap(({ evalCase, scorers, runs }) =>
    Array.from(runs.keys(), (at) => ({ evalCase, scorers, runs, at })),
  );
  let done = 0;
  await inOrder(jobs, concurrency, signal, async ({ evalCase, scorers, runs, at }) => {
    const run = await runOnce(definition, evalCase, {
      scorers,
      number: at + 1,
      signal,
      record: options.record,
    });
    runs[at] = run;
    done += 1;
    const { name: suite } = definition;
    options.onProgress?.({ suite, case: evalCase.name, run, done, total: jobs.length });
  });
  const { passRate } = definition;
  const cases = plan.map(({ evalCase, runs, scorers }) =>
    caseReport(evalCase, runs, { passRate, scorers }),
  );
  const judged = cases.flatMap(({ runs }) => runs).flatMap(({ scores }) => scores);
  const count = (status: CaseReport['status']): number =>
    cases.filter((one) => one.status === status).length;
  const described = definition.agent?.describe();
  const report: EvalReport = {
    format: 'onward.eval',
    version: REPORT_VERSION,
    suite: definition.name,
    number: null,
    agent: described?.name ?? null,
    model: described?.driver ?? null,
    startedAt: isoTime(startedAt),
    durationMs: Math.max(0, Math.round(clock.now() - startedAt)),
    repeats,
    passRate,
    concurrency,
    passed: loaded.error === null && cases.length > 0 && count('passed') === cases.length,
    isAborted: signal.aborted,
    error: loaded.error,
    counts: {
      cases: cases.length,
      passed: count('passed'),
      failed: count('failed'),
      notRun: count('not_run'),
    },
    tokens: cases.reduce((sum, { tokens }) => sum + tokens, 0),
    cost: cases.reduce<number | null>((sum, { cost }) => addCost(sum, cost), 0),
    judgeCost: judged.reduce<number | null>((sum, { cost = 0 }) => addCost(sum, cost), 0),
    scorers: scorerReports(plan, cases),
    cases,
    baseline: null,
  };
  return baseline ? { ...report, baseline: compareReports(report, baseline) } : report;
}

interface Loaded {
  readonly cases: readonly EvalCase[];
  readonly error: string | null;
}

async function loadCases(
  { cases, name }: EvalDefinition,
  filter: string | undefined,
): Promise<Loaded> {
  try {
    const given = typeof cases === 'function' ? await cases() : cases;
    const all = readCases(`the eval ${JSON.stringify(name)}`, given);
    const found = filter === undefined ? all : all.filter((one) => isNamed(one, filter));
    const none = `No case has ${JSON.stringify(filter)} in its name or tags. Change the filter.`;
    if (all.length === 0) return { cases: [], error: 'The eval has no cases. Add one.' };
    return { cases: found, error: found.length === 0 ? none : null };
  } catch (error) {
    return {
      cases: [],
      error: excerpt(`The cases could not be loaded: ${messageOf(error)}`, 1_000),
    };
  }
}

const isNamed = ({ name, tags = [] }: EvalCase, filter: string): boolean =>
  [name, ...tags].some((text) => text.toLowerCase().includes(filter.toLowerCase()));

interface OnceOptions {
  readonly scorers: readonly Scorer[];
  readonly number: number;
  readonly signal: AbortSignal;
  readonly record: EvalRecorder | undefined;
}

/** Runs a case once and scores it. Never rejects. */
async function runOnce(
  { harness }: EvalDefinition,
  evalCase: EvalCase,
  { scorers, number, signal, record }: OnceOptions,
): Promise<RunReport> {
  let run: EvalRun;
  try {
    run = await harness.run(evalCase, { signal, ...(record && { record }) });
  } catch (error) {
    return signal.aborted ? emptyRun(number, 'not_run') : emptyRun(number, 'error', error);
  }
  // what was aborted says nothing about the agent
  if (signal.aborted) return emptyRun(number, 'not_run');
  const scores: ScoreReport[] = [];
  for (const scorer of scorers)
    try {
      scores.push(scoreReport(scorer, await scorer.score({ run, case: evalCase, signal })));
    } catch (error) {
      if (signal.aborted) return emptyRun(number, 'not_run');
      scores.push(brokenScore(scorer, error));
    }
  return runReport(number, run, scores);
}

/** Does jobs in order, some at a time, until all are done or it is aborted. */
async function inOrder<T>(
  jobs: readonly T[],
  concurrency: number,
  signal: AbortSignal,
  work: (job: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < jobs.length && !signal.aborted) await work(jobs[next++] as T); // within the list
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, jobs.length) }, worker));
}

/** Sums up each scorer over the cases, in the order in which they first appear. */
function scorerReports(
  plan: readonly { readonly scorers: readonly Scorer[] }[],
  cases: readonly CaseReport[],
): readonly ScorerReport[] {
  const labels = new Map<string, string>();
  for (const { scorers } of plan)
    for (const { name, label = name } of scorers) if (!labels.has(name)) labels.set(name, label);
  const found = new Map([...labels.keys()].map((name) => [name, { passed: 0, applied: 0 }]));
  for (const { scores } of cases)
    for (const { scorer, status } of scores) {
      const sum = found.get(scorer);
      if (!sum || status === 'skip') continue;
      sum.applied += 1;
      if (status === 'pass') sum.passed += 1;
    }
  return [...found].map(([name, sum]) => ({ name, label: labels.get(name) ?? name, ...sum }));
}
