import { useMemo, useState, type ReactElement } from 'react';
import { compareReports } from '../../evals/compare-reports.ts';
import type { EvalReport } from '../../evals/eval-report.ts';
import type { EvalSuite } from '../../evals/eval-reports.ts';
import { EmptyState, Problem } from '../empty-state.tsx';
import type { PageProps } from '../pages.ts';
import { go, pageHref } from '../route.ts';
import { useKeys } from '../use-keys.ts';
import { EvalSummaryBar } from './eval-summary.tsx';
import { EvalTable } from './eval-table.tsx';
import { RunPicker } from './run-picker.tsx';
import { shownCases, type ShownCases } from './eval-text.ts';
import { useEvalList, useEvalReport } from './use-evals.ts';
// oxlint-disable-next-line import/no-unassigned-import -- styles of this page, loaded with it
import './evals.css';

/** Renders stored eval reports: `#/evals/<suite>/<run>?baseline=<run>&show=failed&case=<name>`. */
export function EvalsPage({ api, route }: PageProps): ReactElement {
  const { suites, problem, refresh } = useEvalList(api);
  const params = useMemo(() => new URLSearchParams(route.query), [route.query]);
  const [suiteName = newestSuite(suites ?? []), runText] = route.path;
  const suite = suites?.find(({ name }) => name === suiteName) ?? null;
  const number = wholeIn(runText ?? null) ?? suite?.runs[0]?.number ?? null;
  const before = suite?.runs.find((run) => number !== null && run.number < number)?.number ?? null;
  const baselineText = params.get('baseline');
  const baselineNumber = baselineText === 'none' ? null : (wholeIn(baselineText) ?? before);
  const read = useEvalReport(api, suite?.name ?? null, number);
  const baselineRead = useEvalReport(api, suite?.name ?? null, baselineNumber);
  const baseline = baselineRead.state === 'ready' ? baselineRead.report : null;

  if (problem && !suites)
    return problem.isNotFound ? (
      <EmptyState glyph="evals" title="Evals are for operators">
        <p>This server does not show eval reports to you. On your machine, start onward dev.</p>
      </EmptyState>
    ) : (
      <Problem message={problem.message} code={problem.code} onRetry={refresh} />
    );
  if (!suites) return <section className="page" aria-label="Evals" aria-busy="true" />;
  if (suites.length === 0) return <NoEvals />;
  const goTo = (path: readonly string[], query: Readonly<Record<string, string | null>>): void =>
    go(pageHref('evals', { path, query }), 'replace');
  return (
    <section className="page evals" aria-label="Evals">
      <RunPicker
        suites={suites}
        suite={suite}
        number={number}
        baseline={baselineNumber}
        onSuite={(name) => goTo([name], {})}
        onRun={(run) => goTo([suiteName ?? '', String(run)], {})}
        onBaseline={(run) =>
          goTo([suiteName ?? '', String(number)], { baseline: run === null ? 'none' : String(run) })
        }
      />
      {read.state === 'failed' && (
        <Problem message={read.problem.message} code={read.problem.code} onRetry={refresh} />
      )}
      {read.state === 'ready' &&
        (read.report && number !== null ? (
          <Results
            key={`${suiteName}/${number}`}
            report={read.report}
            baseline={baseline}
            params={params}
            onParams={(query) => goTo([suiteName ?? '', String(number)], query)}
          />
        ) : (
          <EmptyState glyph="evals" title="Run not found">
            <p>There is no stored run of this number. It was deleted, or the link is wrong.</p>
          </EmptyState>
        ))}
    </section>
  );
}

interface ResultsProps {
  readonly report: EvalReport;
  readonly baseline: EvalReport | null;
  readonly params: URLSearchParams;
  readonly onParams: (query: Readonly<Record<string, string | null>>) => void;
}

function Results({ report, baseline, params, onParams }: ResultsProps): ReactElement {
  const comparison = useMemo(
    () => (baseline ? compareReports(report, baseline) : null),
    [report, baseline],
  );
  const shown = shownCases.find((name) => name === params.get('show')) ?? 'all';
  const open = params.get('case');
  const [limit, setLimit] = useState(PAGE);
  const cases = useMemo(() => {
    const regressed = new Set(comparison?.regressed);
    return report.cases.filter(
      ({ status, name }) =>
        shown === 'all' || (shown === 'failed' ? status === 'failed' : regressed.has(name)),
    );
  }, [report, comparison, shown]);
  const set = (change: Readonly<Record<string, string | null>>): void =>
    onParams({ baseline: params.get('baseline'), show: params.get('show'), case: open, ...change });
  const openAt = (at: number): void => {
    const next = cases[Math.max(0, Math.min(cases.length - 1, at))];
    if (next) set({ case: next.name });
  };
  const current = cases.findIndex(({ name }) => name === open);
  useKeys({
    j: () => openAt(current + 1),
    k: () => openAt(current - 1),
    n: () => {
      const failed = cases.findIndex(({ status }, at) => at > current && status === 'failed');
      if (failed >= 0) openAt(failed);
    },
    ...(open !== null && { escape: () => set({ case: null }) }),
  });
  if (report.error !== null)
    return (
      <EmptyState glyph="failed" title="The eval did not run">
        <p>{report.error}</p>
      </EmptyState>
    );
  const rows = cases.slice(0, Math.max(limit, current + 1));
  return (
    <>
      <EvalSummaryBar
        report={report}
        comparison={comparison}
        shown={shown}
        onShow={(name: ShownCases) => set({ show: name === 'all' ? null : name, case: null })}
      />
      {cases.length === 0 ? (
        <p className="muted evals-none">
          {shown === 'failed' ? 'No case failed.' : 'No case regressed.'}
        </p>
      ) : (
        <EvalTable
          report={report}
          cases={rows}
          comparison={comparison}
          baseline={baseline}
          open={open}
          onOpen={(name) => set({ case: name })}
        />
      )}
      {rows.length < cases.length && (
        <button type="button" className="button" onClick={() => setLimit(limit + PAGE)}>
          Show {Math.min(PAGE, cases.length - rows.length)} more cases
        </button>
      )}
    </>
  );
}

/** Rows that are drawn at once. */
const PAGE = 200;

/** The suite that ran last. */
const newestSuite = (suites: readonly EvalSuite[]): string | null =>
  suites.toSorted((a, b) => startOf(b).localeCompare(startOf(a)))[0]?.name ?? null;
const startOf = ({ runs }: EvalSuite): string => runs[0]?.startedAt ?? '';

const wholeIn = (text: string | null): number | null =>
  text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;

function NoEvals(): ReactElement {
  return (
    <EmptyState glyph="evals" title="No eval runs yet">
      <p>Run a suite and its results appear here, case by case.</p>
      <code className="evals-command">npx onward eval</code>
    </EmptyState>
  );
}
