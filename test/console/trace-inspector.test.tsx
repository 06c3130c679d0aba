// @vitest-environment happy-dom
import { cleanup, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { stopSentence } from '../../src/trace/stop-sentence.ts';
import { traceWith } from './trace-builder.ts';
import { designRun, longTrace, runs } from './trace-fixtures.ts';
import { show, labeled, pane, title, press, has } from './trace-screen.tsx';

// a page with many rows is slow without a browser
vi.setConfig({ testTimeout: 30_000 });

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('the inspector', () => {
  it('shows the check that decided in a card, and folds the others to a line each', () => {
    show(traceWith(designRun), 2);
    const card = labeled('Why it continued');
    expect(card.querySelector('h4')?.textContent).toBe(
      'The model called enrich_company, search_entities.',
    );
    expect(card.textContent).toContain('Decided by ToolCallPresenceCheck');
    const groups = [...pane().querySelectorAll('.decision-groups > details')];
    expect(groups.map((group) => group.querySelector('summary')?.textContent)).toEqual([
      '9 checks allowed continuing1 retry used',
      'How decisions work',
    ]);
    expect(groups.every((group) => !group.hasAttribute('open'))).toBe(true);
    expect(has(/Continue with/)).toBe(false);
  });

  it('names a near miss on the closed line', () => {
    show(
      traceWith({
        steps: [
          { modelMs: 10, calls: [{ name: 'search', ms: 5, state: 'error', error: 'no' }] },
          { modelMs: 3 },
        ],
      }),
      1,
    );
    const lines = [...pane().querySelectorAll('.decision-groups summary')];
    expect(lines.map(({ textContent }) => textContent).join()).toContain('1 retry used');
  });

  it('grants exactly the suggested amount with the button of the banner', () => {
    const { onGrant } = show(traceWith(designRun));
    press('Continue with 5 more steps', pane());
    expect(onGrant).toHaveBeenCalledExactlyOnceWith({ steps: 5 });
    expect(pane().textContent).toContain('decided by StepsLimit');
  });

  it('links to the chat for an approval, and resumes a requested pause', () => {
    const trace = traceWith(runs['waiting']!);
    const asks = show(trace);
    press('Answer in the chat', pane());
    expect(asks.onNewMessage).toHaveBeenCalledOnce();
    cleanup();
    const stop = stopSentence({ status: 'paused', outcome: null });
    const paused = show({ ...trace, stop });
    expect(pane().textContent).not.toContain('Answer in the chat');
    press('Resume', pane());
    expect(paused.onResume).toHaveBeenCalledOnce();
  });

  it('marks custom evaluations and shows recorded reasons', () => {
    show(traceWith(designRun));
    const own = [...pane().querySelectorAll('.evaluation-row')].find((v) =>
      v.textContent?.includes('LeadHasOwner'),
    )!;
    expect(own.textContent).toBe('LeadHasOwnercustomlead_2231 has an owner, so stopping is fine');
    const steps = [...pane().querySelectorAll('.evaluation-row')].find((v) =>
      v.textContent?.startsWith('CostLimit'),
    )!;
    expect(steps.textContent).not.toContain('custom');
  });

  it('shows the grant after an earlier stop', () => {
    const stopped = traceWith(designRun);
    const after = { ...stopped.steps[0]!, number: 7, at: 18_000 };
    show({ ...stopped, steps: [...stopped.steps, after], stop: null, status: 'processing' }, 6);
    expect(pane().textContent).toContain('It used 5 of 5 steps');
    expect(pane().textContent).toContain('More was allowed, and it continued with the next step.');
    expect(has(/Grant/)).toBe(false);
  });

  it('moves between steps, and forks from a finished step', () => {
    const { onFork, onSelect } = show(traceWith(designRun));
    press('Next step');
    expect(onSelect).not.toHaveBeenCalled();
    press('Previous step');
    expect(title()).toBe('Step 5');
    press('Fork from here');
    expect(onFork).toHaveBeenCalledExactlyOnceWith(5);
    cleanup();
    show(traceWith(runs['waiting']!));
    expect(has(/Fork from here/)).toBe(false);
    expect(pane().textContent).toContain('Waiting because delete_program_lead needs approval');
  });

  it('copies the explanation of a step as plain text, and reports a failed copy', async () => {
    const user = userEvent.setup();
    show(traceWith(designRun));
    await user.click(screen.getByRole('button', { name: 'Copy explanation' }));
    const text = await navigator.clipboard.readText();
    expect(text).toContain(
      'Session ses_01, run exec_1\nStep 6 · 1.56 s · finish_reason tool_calls · 1 call\n',
    );
    expect(text).toContain(
      'Stopped (steps_limit) by StepsLimit: 5 of 5 steps used while work is still pending.',
    );
    expect(text).toMatch(/allow {4}TokenUsageLimit +9924 of 40000 tokens/);
    expect(text).toContain('To continue, add 5 steps.');
    await screen.findByText('Copied');
    vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('no'));
    await user.click(screen.getByText('Copied'));
    await screen.findByText('Not copied');
  });
});

describe('the matrix', () => {
  it('labels every evaluation and marks the decisive ones', () => {
    show(traceWith(designRun));
    for (const name of [
      'StepsLimit, step 3: allowed continuing',
      'StepsLimit, step 6: stopped it, decided',
      'LeadHasOwner, step 6: ready to finish',
    ])
      expect(labeled(name).getAttribute('role')).toBe('img');
    const rows = () => document.querySelectorAll('.trace-matrix th[scope="row"]').length;
    expect(rows()).toBe(3);
    press('7 checks allowed every step');
    expect(rows()).toBe(10);
  });

  it('selects the step of a column', () => {
    const { onSelect } = show(traceWith(designRun));
    press('Step 3');
    expect(onSelect).toHaveBeenCalledExactlyOnceWith(3);
    expect(title()).toBe('Step 3');
  });

  it('shows 24 of 150 steps with their range', () => {
    show(longTrace(150));
    expect(document.querySelectorAll('.trace-matrix th[scope="col"]')).toHaveLength(24);
    expect(screen.getByText(/127 to 150/)).toBeTruthy();
  });
});

describe('the time table', () => {
  it('has shares of the working time, and pauses without a share', () => {
    show(traceWith(designRun));
    const part = (name: string) =>
      [...document.querySelectorAll('.trace-spent tr')].find((r) => r.textContent.startsWith(name))
        ?.textContent;
    expect(part('Tools')).toMatch(/9 calls, 1 failed8\.06 s4\d %/);
    expect(part('Model')).toMatch(/6 calls, 1 failed7\.04 s41 %/);
    expect(part('Backoff')).toMatch(/2\.00 s12 %/);
    expect(part('Paused')).toMatch(/not counted4m 12s–/);
  });
});

it('renders markup of models and tools as text', () => {
  const evil = '<img src=x onerror=alert(1)>';
  show(
    traceWith({
      steps: [
        { modelMs: 10, calls: [{ name: 'search', ms: 5, state: 'error', error: evil }] },
        { modelMs: 3, failed: evil, waitMs: 5 },
      ],
    }),
    1,
  );
  expect(document.querySelector('img')).toBeNull();
  expect(document.body.textContent).toContain(evil);
});
