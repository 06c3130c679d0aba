import { AgentError } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import { REPORT_VERSION, type EvalReport } from './eval-report.ts';

/** A stored report without its cases. */
export interface EvalSummary extends Omit<EvalReport, 'cases' | 'scorers' | 'baseline'> {
  readonly number: number;
}

export interface EvalSuite {
  readonly name: string;
  /** The stored runs, newest first, at most 50. */
  readonly runs: readonly EvalSummary[];
}

/** Stored reports, such as those of a folder. The server and `onward eval` read them. */
export interface EvalReports {
  /** The suites by name, at most 100, each with its newest runs. */
  list(): Promise<readonly EvalSuite[]>;
  /** A report; null if there is none. */
  read(suite: string, number: number): Promise<EvalReport | null>;
  /** The newest report of a suite; null if there is none. */
  latest(suite: string): Promise<EvalReport | null>;
  /** Stores a report under the next number of its suite, and returns it with that number. */
  save(report: EvalReport): Promise<EvalReport>;
}

/** Reads a report from JSON. `what` names its source in errors. */
export function readEvalReport(what: string, json: unknown): EvalReport {
  if (!isRecord(json) || json['format'] !== 'onward.eval')
    throw wrong(`${what} is no report of an eval. Expected what onward eval --json prints.`);
  const { version, cases, scorers } = json;
  if (version !== REPORT_VERSION)
    throw wrong(
      `${what} has version ${String(version)}, expected ${REPORT_VERSION}. Read it with a later release.`,
    );
  if (!Array.isArray(cases) || !cases.every(isCase) || !Array.isArray(scorers))
    throw wrong(`${what} is a damaged report: its cases or scorers are missing.`);
  // written by this library; a reader of another field gets undefined at worst
  return json as unknown as EvalReport;
}

const isCase = (one: unknown): boolean =>
  isRecord(one) &&
  typeof one['name'] === 'string' &&
  typeof one['status'] === 'string' &&
  Array.isArray(one['runs']) &&
  Array.isArray(one['scores']);

const wrong = (message: string): AgentError => new AgentError('invalid_option', message);

/** Leaves out the cases of a report. */
export function summaryOf({
  cases: _c,
  scorers: _s,
  baseline: _b,
  ...rest
}: EvalReport): Omit<EvalReport, 'cases' | 'scorers' | 'baseline'> {
  return rest;
}
