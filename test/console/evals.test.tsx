// @vitest-environment happy-dom
import { cleanup, configure, render, screen, within } from '@testing-library/react';
import { userEvent as events } from '@testing-library/user-event';
import { useState, type ReactElement } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Api } from '../../src/console/api-client.ts';
import { ApiProblem } from '../../src/console/api-problem.ts';
import { EvalsPage } from '../../src/console/evals/evals-page.tsx';
import { parseRoute, useHash, type PageRoute } from '../../src/console/route.ts';
import type { EvalReport } from '../../src/evals/eval-report.ts';
import { summaryOf, type EvalSuite } from '../../src/evals/eval-reports.ts';
import { seriousInDocument } from '../setup/axe-dom.ts';
import { evalReports } from './eval-fixtures.ts';

configure({ asyncUtilTimeout: 10_000 });
vi.setConfig({ testTimeout: 30_000 });
const userEvent = events.setup({ delay: null });
afterEach(cleanup);

const apiOf = (reports: readonly EvalReport[], more: Partial<Api> = {}): Api =>
  ({
    evals: () => {
      const suites = new Map<string, EvalSuite>();
      for (const report of reports.toReversed()) {
        const { runs = [] } = suites.get(report.suite) ?? {};
        const summary = { ...summaryOf(report), number: report.number ?? 0 };
        suites.set(report.suite, { name: report.suite, runs: [...runs, summary] });
      }
      return Promise.resolve([...suites.values()]);
    },
    evalReport: (suite, number) =>
      Promise.resolve(reports.find((one) => one.suite === suite && one.number === number) ?? null),
    ...more,
  }) as Partial<Api> as Api; // the page reads nothing else

function Page({ api }: { readonly api: Api }): ReactElement {
  const hash = useHash();
  const [route] = [parseRoute(hash) as PageRoute];
  const [info] = useState(null);
  return <EvalsPage api={api} info={info} route={route} />;
}

const open = (api: Api, hash: string = '#/evals'): void => {
  const { happyDOM } = window as unknown as { happyDOM: { setURL: (url: string) => void } };
  happyDOM.setURL(`http://127.0.0.1:4111/${hash}`);
  render(<Page api={api} />);
};
const rows = (): (string | null)[] =>
  screen.getAllByRole('rowheader').map(({ textContent }) => textContent);

describe('the evals page', () => {
  it('shows the newest run, compared with the one before', async () => {
    open(apiOf(evalReports));
    await screen.findByRole('table');
    const page = document.body.textContent ?? '';
    expect(page).toContain('5 / 7cases passed');
    expect(page).toContain('−1from baseline: 2 regressed, 1 fixed');
    expect(page).toContain('$0.6100cost, was $0.5800');
    expect(page).toContain('3m 04s8 at a time');
    expect(rows()).toHaveLength(7);
    expect(rows()).toContain('survives-directory-timeoutregressed');
    const [, second] = screen.getAllByRole('row');
    expect(second?.textContent).toContain('passed0.94');
    expect(screen.getByRole('combobox', { name: 'Run' })).toHaveProperty('value', '42');
    expect(screen.getByRole('combobox', { name: 'Baseline' })).toHaveProperty('value', '41');
    expect(await seriousInDocument()).toEqual([]);
  });

  it('filters, and keeps the choice in the address', async () => {
    open(apiOf(evalReports));
    await userEvent.click(await screen.findByRole('button', { name: 'Regressed 2' }));
    expect(rows()).toHaveLength(2);
    expect(location.hash).toContain('show=regressed');
    await userEvent.click(screen.getByRole('button', { name: 'Failed 2' }));
    expect(rows()).toHaveLength(2);
    await userEvent.click(screen.getByRole('button', { name: 'All 7' }));
    expect(location.hash).not.toContain('show=');
  });

  it('opens a case with its reasons, its trace and the baseline', async () => {
    open(apiOf(evalReports), '#/evals/lead-hygiene/42');
    const row = await screen.findByRole('button', { name: /survives-directory-timeout/ });
    await userEvent.click(row);
    expect(row.getAttribute('aria-expanded')).toBe('true');
    screen.getByText('Enrich narva-optics.example. The directory times out once.');
    const reasons = screen.getByRole('heading', { name: 'Why it failed' }).parentElement;
    expect(reasons?.textContent).toContain('tool_order Expected enrich_company twice.');
    expect(reasons?.textContent).toContain('judge 0.41 The answer states a number');
    const trace = screen.getByRole('link', { name: 'Open trace at step 2' });
    expect(trace.getAttribute('href')).toBe('#/s/session-3/trace/2?execution=execution-3');
    const both = screen.getByRole('link', { name: 'Compare traces' }).getAttribute('href');
    expect(both).toBe(
      '#/compare?left=session-3&right=session-3&leftRun=execution-3&rightRun=execution-3',
    );
    await userEvent.click(screen.getByRole('button', { name: 'Compare with run #41' }));
    screen.getByRole('heading', { name: 'Answer in run #41' });
    screen.getByText('“It has 52 employees.”');
    expect(await seriousInDocument()).toEqual([]);
    await userEvent.click(row);
    expect(screen.queryByText('Why it failed')).toBeNull();
  });

  it('opens the next failure and the neighbors by key', async () => {
    open(apiOf(evalReports));
    await screen.findByRole('table');
    await userEvent.keyboard('n');
    expect(location.hash).toContain('case=survives-directory-timeout');
    await userEvent.keyboard('n');
    expect(location.hash).toContain('case=summarizes-long-history');
    await userEvent.keyboard('k');
    expect(location.hash).toContain('case=sets-owner-on-orphans');
    await userEvent.keyboard('{Escape}');
    expect(location.hash).not.toContain('case=');
  });

  it('compares with another run, or with none', async () => {
    open(apiOf(evalReports));
    const baseline = await screen.findByRole('combobox', { name: 'Baseline' });
    await userEvent.selectOptions(baseline, 'none');
    expect(document.body.textContent).not.toContain('from baseline');
    await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Run' }), '41');
    await screen.findByText('6', { exact: false, selector: 'b' });
    expect(location.hash).toBe('#/evals/lead-hygiene/41');
  });

  it('shows each run of a case with repeats', async () => {
    open(apiOf(evalReports), '#/evals/repeated/1');
    await userEvent.click(await screen.findByRole('button', { name: /flaky/ }));
    const runs = screen.getByRole('group', { name: 'Runs' });
    expect(within(runs).getAllByRole('button')).toHaveLength(3);
    // the first that failed is shown first
    screen.getByText('“Answer 2”');
    await userEvent.click(within(runs).getByRole('button', { name: /run 3/ }));
    screen.getByText('“Answer 3”');
    expect(document.body.textContent).toContain('2 of 3 runs passed');
  });

  it.each<[string, Api, string, string?]>([
    ['no reports', apiOf([]), 'No eval runs yet'],
    ['an unknown run', apiOf(evalReports), 'Run not found', '#/evals/lead-hygiene/7'],
    [
      'a client who is no operator',
      apiOf([], { evals: () => Promise.reject(new ApiProblem(403, 'forbidden', 'no')) }),
      'Evals are for operators',
    ],
    [
      'a failing server',
      apiOf([], { evals: () => Promise.reject(new ApiProblem(500, 'internal', 'It broke.')) }),
      'This could not be read',
    ],
    [
      'a report that is damaged',
      apiOf(evalReports, {
        evalReport: () => Promise.reject(new ApiProblem(500, 'internal', 'It is no JSON.')),
      }),
      'This could not be read',
    ],
    [
      'cases that could not be loaded',
      apiOf(evalReports),
      'The eval did not run',
      '#/evals/broken/1',
    ],
  ])('says what to do with %s', async (_what, api, title, hash) => {
    open(api, hash);
    await screen.findByRole('heading', { name: title });
    expect(await seriousInDocument()).toEqual([]);
  });

  it('copies the command that runs the suite again', async () => {
    const written: string[] = [];
    vi.stubGlobal('navigator', {
      ...navigator,
      clipboard: { writeText: (text: string) => Promise.resolve(void written.push(text)) },
    });
    open(apiOf(evalReports));
    const button = await screen.findByRole('button', { name: 'Copy command to run again' });
    button.click();
    await screen.findByText('Copied');
    expect(written).toEqual(['npx onward eval lead-hygiene']);
    vi.unstubAllGlobals();
  });
});
