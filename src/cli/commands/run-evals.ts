import { readFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { messageOf } from '../../errors/error-record.ts';
import {
  junitXml,
  readEvalReport,
  runEval,
  type EvalReport,
  type EvalReports,
  type RunEvalOptions,
} from '../../evals/index.ts';
import { evalReportFolder } from '../../evals/node.ts';
import { parseJson } from '../../json.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import { makeDotFolder } from '../dot-folder.ts';
import { evalLines, progressText } from '../eval-text.ts';
import { exitCodeNamed, exitCodeOfSignal } from '../exit-codes.ts';
import { findEvals, type FoundEval } from '../find-evals.ts';
import { oneLine } from '../format.ts';
import { TerminalOutput } from '../terminal-output.ts';
import { usageError } from '../usage-error.ts';

export interface EvalCommandOptions {
  readonly filter?: string;
  readonly repeats?: number;
  readonly concurrency?: number;
  readonly baseline?: string;
  readonly junit?: string;
  readonly report?: string;
  /** Whether reports are stored; false with `--no-save`. */
  readonly save?: boolean;
  readonly record?: boolean;
}

/** Runs evals, prints their results and writes their reports. */
export async function runEvals(
  context: CliContext,
  names: readonly string[],
  options: EvalCommandOptions,
): Promise<number> {
  const { io } = context;
  const found = await findEvals(io.cwd, names);
  const abort = new AbortController();
  let code: number | null = null;
  const leave = io.onSignal((signal) => {
    // the second signal exits immediately
    if (code !== null) return io.exit(exitCodeOfSignal(signal));
    code = exitCodeOfSignal(signal);
    abort.abort(new Error('The eval was aborted.'));
  });
  try {
    const more = { signal: abort.signal };
    const reports = options.record
      ? await withProject(context, ({ store, owner }) =>
          runAll(context, found, options, { ...more, record: { store, owner } }),
        )
      : await runAll(context, found, options, more);
    writeReports(context, reports, options);
    const isPassed = reports.every(({ passed }) => passed);
    code ??= isPassed ? 0 : exitCodeNamed('eval_failed');
    if (context.isJson) context.printJson({ type: 'result', passed: isPassed, exit_code: code });
    return code;
  } finally {
    leave();
  }
}

async function runAll(
  context: CliContext,
  found: readonly FoundEval[],
  options: EvalCommandOptions,
  more: Pick<RunEvalOptions, 'signal' | 'record'>,
): Promise<readonly EvalReport[]> {
  const { io, isJson } = context;
  const folder = join(io.cwd, '.onward', 'evals');
  const stored = evalReportFolder(folder);
  const reports: EvalReport[] = [];
  for (const { file, definition } of found) {
    if (more.signal?.aborted) break;
    const { name } = definition;
    const baseline = await baselineOf(context, stored, name, options.baseline);
    const repeats = options.repeats ?? definition.repeats;
    const output = new TerminalOutput(context);
    if (!isJson)
      context.print(
        `${context.paint('bold', name)}  ${context.paint('dim', relative(io.cwd, file))}`,
      );
    const report = await runEval(definition, {
      ...more,
      repeats,
      ...(options.filter !== undefined && { filter: options.filter }),
      ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
      ...(baseline && { baseline }),
      onProgress({ suite, case: one, run, done, total }) {
        if (isJson) context.printJson({ type: 'eval_run', suite, case: one, done, total, run });
        else if (io.stderr.isTTY) output.status(progressText(one, run, { done, total, repeats }));
        else output.note(progressText(one, run, { done, total, repeats }));
      },
    });
    output.status('');
    const isKept = options.save !== false && report.cases.length > 0;
    if (isKept) makeDotFolder(io.cwd);
    const kept = isKept ? await stored.save(report) : report;
    reports.push(kept);
    if (isJson) {
      context.printJson({ type: 'eval_report', report: kept });
      continue;
    }
    for (const line of evalLines(kept, context.paint)) context.print(line);
    if (isKept)
      context.note(
        context.paintNote(
          'dim',
          `Stored as run ${kept.number}: ${join('.onward', 'evals', name, `${kept.number}.json`)}`,
        ),
      );
    context.print();
  }
  return reports;
}

/** Reads the report to compare with: a stored run by its number, a file, or the newest stored run. */
async function baselineOf(
  { io }: CliContext,
  stored: EvalReports,
  suite: string,
  given: string | undefined,
): Promise<EvalReport | null> {
  if (given === 'none') return null;
  if (given === undefined) return stored.latest(suite).catch(() => null);
  if (/^\d+$/.test(given)) {
    const report = await stored.read(suite, Number(given));
    if (report) return report;
    throw usageError(`--baseline got ${given}, but ${suite} has no stored run of that number.`);
  }
  const file = resolve(io.cwd, given);
  const list = reportsIn(file);
  const report = list.find((one) => one.suite === suite);
  if (report) return report;
  throw usageError(`--baseline got ${file}, which has no report of ${suite}.`);
}

function reportsIn(file: string): readonly EvalReport[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(`--baseline got ${file}, which could not be read: ${messageOf(error)}`);
  }
  const parsed = parseJson(text);
  if (!parsed.ok) throw usageError(`--baseline got ${file}, which is no JSON: ${parsed.error}`);
  const list: readonly unknown[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value];
  return list.map((one) => readEvalReport(file, one));
}

function writeReports(
  context: CliContext,
  reports: readonly EvalReport[],
  { junit, report }: EvalCommandOptions,
): void {
  const write = (file: string, text: string): void => {
    const path = resolve(context.io.cwd, file);
    try {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    } catch (error) {
      throw usageError(`${path} could not be written: ${messageOf(error)}`);
    }
    if (!context.isJson) context.note(context.paintNote('dim', `Wrote ${oneLine(file, 200)}`));
  };
  if (junit !== undefined) write(junit, junitXml(reports));
  if (report !== undefined)
    write(report, `${JSON.stringify(reports.length === 1 ? reports[0] : reports, null, 2)}\n`);
}
