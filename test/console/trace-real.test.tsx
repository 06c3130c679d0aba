// @vitest-environment happy-dom
import { cleanup, render } from '@testing-library/react';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { TraceView } from '../../src/console/trace/trace-view.tsx';
import type { Trace } from '../../src/trace/trace.ts';
import { realRun } from './trace-real-run.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

let run: Awaited<ReturnType<typeof realRun>>;
beforeAll(async () => {
  run = await realRun();
});
afterEach(cleanup);

const ignore = (): void => {};
function show(trace: Trace, selected: number | null = null): string {
  const { container } = render(
    <TraceView
      trace={trace}
      selected={selected}
      onSelect={ignore}
      onGrant={ignore}
      onResume={ignore}
      onNewMessage={ignore}
      onFork={ignore}
      onEarlier={ignore}
      onOpenCall={ignore}
      onOpenAbove={ignore}
      grantState={{ kind: 'ready' }}
    />,
  );
  return container.textContent;
}
const rowText = (step: number): string =>
  document.querySelector(`[data-step="${step}"]`)?.textContent ?? '';
const paneText = (): string => document.querySelector('.trace-inspector')?.textContent ?? '';

it('shows a real run with a timeout, its retry, a 429 with its wait, an approval and a limit', () => {
  show(run.stopped);
  expect(rowText(2)).toContain('enrich_company 5.00 s timeout');
  expect(rowText(3)).toContain('failed call');
  expect(rowText(3)).toMatch(/429.* then waited 2\.00 s/);
  expect(rowText(4)).toContain('attempt 2');
  expect(rowText(4)).toContain('retry 1/3');
  expect(rowText(5)).toMatch(/delete_program_lead 0\.\d\d s · paused 4m 1\ds/);
  expect(rowText(6)).toContain('Stopped · step limit');
  expect(paneText()).toContain(
    'Stopped because it used 5 of 5 steps before the model read a tool result.To continue, add 5 steps.',
  );
  const full = document.querySelector('.evaluation-row[data-decisive] .meter[data-tone="full"]');
  expect(full?.querySelectorAll('[data-on]')).toHaveLength(5);
});

it('shows the same run while it needs approval', () => {
  show(run.waiting);
  expect(rowText(5)).toContain('needs approval');
  expect(paneText()).toContain('Waiting because delete_program_lead needs approval');
  expect(document.querySelectorAll('[data-step="5"] [data-kind="paused"]')).toHaveLength(1);
});

it('shows the grant and the step after it', () => {
  show(run.granted, 6);
  expect(paneText()).toContain('More was allowed, and it continued with the next step.');
  expect(document.querySelector('.trace-totals')?.textContent).toContain('5 more allowed');
  cleanup();
  show(run.granted);
  expect(paneText()).toContain('Finished because the model answered and called no more tools.');
  expect(document.querySelectorAll('.trace-grid [data-pause]')).toHaveLength(2);
});

it('shows a row for every evaluation, and meters for the limits', () => {
  show(run.stopped);
  const { evaluations } = run.stopped.outcome!;
  expect(document.querySelectorAll('.evaluation-row')).toHaveLength(evaluations.length);
  for (const name of [
    'StepsLimit',
    'TokenUsageLimit',
    'CostLimit',
    'CumulativeExecutionTimeLimit',
    'ErrorPolicyCriterion',
  ]) {
    const evaluation = [...document.querySelectorAll('.evaluation-row')].find((v) =>
      v.textContent.startsWith(name),
    );
    expect(evaluation?.querySelector('.evaluation-meter'), name).not.toBeNull();
  }
});
