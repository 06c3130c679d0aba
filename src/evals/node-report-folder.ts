import { mkdir, open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError } from '../errors/agent-error.ts';
import { messageOf } from '../errors/error-record.ts';
import { isHarmless, parseJson } from '../json.ts';
import type { EvalReport } from './eval-report.ts';
import { readEvalReport, summaryOf, type EvalReports, type EvalSummary } from './eval-reports.ts';

/** Bounds of what a reader gets, whatever lies in the folder. */
const MAX_SUITES = 100;
const MAX_RUNS = 50;
const MAX_BYTES = 20_000_000;
/** Attempts to take the next number, when other processes store reports too. */
const MAX_TRIES = 100;

const suiteName = /^[A-Za-z0-9][\w-]{0,63}$/;
const fileName = /^(\d{1,9})\.json$/;

/** Keeps reports as files: `<folder>/<suite>/<number>.json`, readable only by this user. */
export function evalReportFolder(folder: string): EvalReports {
  /** Summaries of files that do not change, by path. */
  const known = new Map<string, { readonly time: number; readonly summary: EvalSummary | null }>();

  const numbersOf = async (suite: string): Promise<readonly number[]> => {
    const names = await namesIn(join(folder, suite));
    return names
      .flatMap((name) => Number(fileName.exec(name)?.[1] ?? Number.NaN))
      .filter((number) => Number.isInteger(number))
      .toSorted((a, b) => b - a);
  };
  const read = async (suite: string, number: number): Promise<EvalReport | null> => {
    if (!suiteName.test(suite) || !Number.isInteger(number) || number < 0) return null;
    const path = join(folder, suite, `${number}.json`);
    const text = await textOf(path);
    if (text === null) return null;
    const parsed = parseJson(text);
    if (!parsed.ok || !isHarmless(parsed.value))
      throw new AgentError('invalid_option', `${path} is no JSON. Delete the file.`);
    return { ...readEvalReport(path, parsed.value), suite, number };
  };
  const summary = async (suite: string, number: number): Promise<EvalSummary | null> => {
    const path = join(folder, suite, `${number}.json`);
    const time = (await stat(path).catch(() => null))?.mtimeMs ?? 0;
    const before = known.get(path);
    if (before?.time === time) return before.summary;
    const report = await read(suite, number).catch(() => null);
    const found = report && { ...summaryOf(report), number };
    if (known.size > MAX_SUITES * MAX_RUNS) known.clear();
    known.set(path, { time, summary: found });
    return found;
  };
  return {
    async list() {
      const names = (await namesIn(folder)).filter((name) => suiteName.test(name)).toSorted();
      const suites = [];
      for (const name of names.slice(0, MAX_SUITES)) {
        const runs: EvalSummary[] = [];
        for (const number of (await numbersOf(name)).slice(0, MAX_RUNS)) {
          const found = await summary(name, number);
          if (found) runs.push(found);
        }
        if (runs.length > 0) suites.push({ name, runs });
      }
      return suites;
    },
    read,
    async latest(suite) {
      if (!suiteName.test(suite)) return null;
      const [number] = await numbersOf(suite);
      return number === undefined ? null : read(suite, number);
    },
    async save(report) {
      const path = join(folder, report.suite);
      await mkdir(path, { recursive: true, mode: 0o700 });
      const first = ((await numbersOf(report.suite))[0] ?? 0) + 1;
      for (let number = first; number < first + MAX_TRIES; number++) {
        const stored = { ...report, number };
        if (await created(join(path, `${number}.json`), JSON.stringify(stored))) return stored;
      }
      throw new AgentError('conflict', `${path} has no free number. Try again.`);
    },
  };
}

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);

async function textOf(path: string): Promise<string | null> {
  const facts = await stat(path).catch(() => null);
  if (!facts?.isFile()) return null;
  if (facts.size > MAX_BYTES)
    throw new AgentError('invalid_option', `${path} is larger than a report can be.`);
  return readFile(path, 'utf8');
}

/** Writes a new file; false if it exists, because another process took the number. */
async function created(path: string, text: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
    return true;
  } catch (cause) {
    if ((cause as { code?: unknown }).code === 'EEXIST') return false;
    throw new AgentError('invalid_option', `${path} could not be written: ${messageOf(cause)}`, {
      cause,
    });
  }
}
