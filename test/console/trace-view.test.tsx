// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { useState, type ReactElement } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { TraceViewProps } from '../../src/console/contract.ts';
import { TraceView } from '../../src/console/trace/trace-view.tsx';
import type { Trace } from '../../src/trace/trace.ts';
import { traceWith } from './trace-builder.ts';
import { beforeAnyStep, designRun, longTrace, many, runs } from './trace-fixtures.ts';

// a page with many rows takes its time without a browser, the more so on a busy machine
vi.setConfig({ testTimeout: 30_000 });

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function show(trace: Trace, selected: number | null = null, more: Partial<TraceViewProps> = {}) {
  const asked = {
    onSelect: vi.fn(),
    onGrant: vi.fn(),
    onResume: vi.fn(),
    onNewMessage: vi.fn(),
    onFork: vi.fn(),
    onEarlier: vi.fn(),
  };
  function Shell({ shown }: { readonly shown: Trace }): ReactElement {
    const [at, setAt] = useState(selected);
    return (
      <TraceView
        trace={shown}
        selected={at}
        grantState={{ kind: 'ready' }}
        {...asked}
        {...more}
        onSelect={(step) => {
          asked.onSelect(step);
          setAt(step);
        }}
      />
    );
  }
  const view = render(<Shell shown={trace} />);
  return { ...asked, ...view, bring: (next: Trace) => view.rerender(<Shell shown={next} />) };
}

/** By their labels: queries by role read the whole page each time, and these pages are large. */
const labelled = (label: string) => document.querySelector<HTMLElement>(`[aria-label="${label}"]`)!;
const pane = () => labelled('Voices of the selected step');
const title = () => pane().querySelector('h3')?.textContent;
const timeline = () => labelled('Timeline');
const press = (name: string, within: HTMLElement = document.body) => {
  const found = [...within.querySelectorAll('button')].filter(
    (button) => (button.getAttribute('aria-label') ?? button.textContent) === name,
  );
  expect(found).toHaveLength(1);
  fireEvent.click(found[0]!);
};
const has = (name: RegExp) =>
  [...document.querySelectorAll('button')].some(({ textContent }) => name.test(textContent));
const row = (step: number) => timeline().querySelector<HTMLElement>(`[data-step="${step}"]`)!;
const current = () =>
  [...timeline().querySelectorAll<HTMLElement>('[aria-current="step"]')].map(
    (r) => r.dataset['step'],
  );

describe('totals', () => {
  const total = (name: string) => screen.getByText(name, { selector: 'dt' }).parentElement!;

  it('say what was used of what is allowed, and what was not counted', () => {
    show(traceWith(designRun));
    expect(total('Steps').textContent).toBe('Steps5 /  of 51 failed call not counted');
    expect(total('Steps').querySelectorAll('[data-tone="full"] [data-on]')).toHaveLength(5);
    expect(total('Worked').textContent).toContain('4m 12s paused, not counted');
    expect(total('Tokens').textContent).toContain('9,490 in · 434 out');
    expect(total('Cost').textContent).toContain('$0.0225');
  });

  it('have no meter where there is no limit', () => {
    show(traceWith(runs['oneStep']!));
    expect(total('Tokens').querySelector('.meter')).toBeNull();
    expect(total('Tokens').textContent).toBe('Tokens1,2861,200 in · 86 out');
  });

  it('say that a cost is unknown, and what that does to its limit', () => {
    show(traceWith(runs['short']!));
    expect(total('Cost').textContent).toContain('unknown');
    expect(total('Cost').textContent).toContain('the limit cannot bind');
    expect(total('Cost').querySelector('.meter')).toBeNull();
  });

  it('say what was granted', () => {
    show({ ...traceWith(designRun), grants: { steps: 5, cost: 0.05 } });
    expect(total('Steps').textContent).toContain('5 granted');
    expect(total('Cost').textContent).toContain('$0.05 granted');
  });
});

describe('the timeline', () => {
  it('has a row for each step: what it took, what was decided and by whom', () => {
    show(traceWith(designRun));
    expect([...timeline().querySelectorAll('li')]).toHaveLength(6);
    expect(row(2).textContent).toContain('6.18 s');
    expect(row(2).textContent).toContain('Go on · ToolCallPresenceCheck');
    expect(row(3).textContent).toContain('failed call');
    expect(row(4).textContent).toContain('attempt 2');
    expect(row(6).textContent).toContain('Stop · StepsLimit');
    expect(row(6).querySelector('[data-glyph="forbid"]')).not.toBeNull();
  });

  it('follows the newest step until one is picked, and again on demand', () => {
    const running = traceWith({ ...designRun, steps: designRun.steps.slice(0, 2) });
    const { bring, onSelect } = show(running);
    expect(title()).toBe('Step 2');
    bring(traceWith({ ...designRun, steps: designRun.steps.slice(0, 3) }));
    expect(title()).toBe('Step 3');
    expect(has(/Follow newest/)).toBe(false);
    fireEvent.click(row(1));
    expect(onSelect).toHaveBeenLastCalledWith(1);
    bring(traceWith({ ...designRun, steps: designRun.steps.slice(0, 4) }));
    expect(title()).toBe('Step 1');
    press('Follow newest');
    expect(onSelect).toHaveBeenLastCalledWith(null);
    expect(title()).toBe('Step 4');
  });

  it('moves with arrows and J and K, and takes the focus along', () => {
    show(traceWith(designRun));
    row(6).focus();
    for (const key of ['ArrowUp', 'k', 'K']) fireEvent.keyDown(document.activeElement!, { key });
    expect(current()).toEqual(['3']);
    expect(document.activeElement).toBe(row(3));
    fireEvent.keyDown(document.activeElement!, { key: 'ArrowDown' });
    expect(title()).toBe('Step 4');
    fireEvent.keyDown(document.activeElement!, { key: 'Home' });
    expect(title()).toBe('Step 1');
    fireEvent.keyDown(document.activeElement!, { key: 'ArrowUp' });
    fireEvent.keyDown(document.activeElement!, { key: 'j', ctrlKey: true });
    expect(title()).toBe('Step 1');
    expect([...timeline().querySelectorAll('[data-step][tabindex="0"]')]).toEqual([row(1)]);
  });

  it('takes J and K from anywhere, but not from somebody who writes', () => {
    show(traceWith(designRun));
    fireEvent.keyDown(document.body, { key: 'k' });
    expect(title()).toBe('Step 5');
    const field = document.body.appendChild(document.createElement('textarea'));
    fireEvent.keyDown(field, { key: 'k' });
    field.remove();
    expect(title()).toBe('Step 5');
    fireEvent.keyDown(document.body, { key: 'ArrowUp' });
    expect(title()).toBe('Step 5');
  });

  it('has a row 0 for a verdict before any step', () => {
    show(beforeAnyStep());
    expect(row(0).textContent).toContain('before any step');
    expect(title()).toBe('Before any step');
    expect(pane().textContent).toContain('this session used 100,212 of its 100,000 tokens');
  });

  it('says so where there are no steps yet', () => {
    show({ ...beforeAnyStep(), outcome: null, stop: null });
    expect(screen.getByText('No steps yet')).toBeTruthy();
  });

  it('offers earlier steps, and fetches them for a link to one that is not here', () => {
    const page = traceWith({ ...many(6), firstNumber: 91, hasEarlier: true });
    const { onEarlier } = show(page);
    press('Load earlier steps');
    expect(onEarlier).toHaveBeenCalledTimes(1);
    cleanup();
    const linked = show(page, 40);
    expect(linked.onEarlier).toHaveBeenCalledTimes(1);
    expect(pane().textContent).toBe('Loading step 40…');
    linked.bring({ ...page });
    expect(linked.onEarlier).toHaveBeenCalledTimes(1);
    linked.bring(traceWith({ ...many(66), firstNumber: 31, hasEarlier: true }));
    expect(title()).toBe('Step 40');
  });

  it('draws only what can be seen of 5,000 steps', () => {
    show(longTrace(5000));
    expect(timeline().querySelectorAll('[data-step]').length).toBeLessThan(60);
    // the selected one is drawn wherever it is
    expect(current()).toEqual(['5000']);
    expect(row(5000).closest('li')?.getAttribute('aria-posinset')).toBe('5000');
  });

  it('draws up to 100 steps whole', () => {
    show(longTrace(100));
    expect(timeline().querySelectorAll('[data-step]')).toHaveLength(100);
  });
});

describe('a running step', () => {
  it('has no verdict yet and grows by itself, until the next document', () => {
    vi.useFakeTimers();
    const trace = traceWith(runs['running']!);
    const { bring } = show(trace);
    expect(row(2).textContent).toContain('No verdict yet');
    expect(pane().textContent).toContain('All voices speak together when it is over.');
    expect(row(2).textContent).toContain('2.40 s');
    act(() => {
      vi.advanceTimersByTime(1000);
    });
    expect(row(2).textContent).toContain('3.40 s');
    expect(row(2).textContent).toContain('enrich_company 1.96 s');
    expect(row(1).textContent).toContain('6.18 s');
    bring({ ...trace });
    expect(row(2).textContent).toContain('2.40 s');
  });

  it('stands still for those who want less motion', () => {
    vi.useFakeTimers();
    const media = window.matchMedia.bind(window);
    vi.stubGlobal('matchMedia', (query: string) =>
      query.includes('reduced-motion')
        ? { matches: true, addEventListener() {}, removeEventListener() {} }
        : media(query),
    );
    show(traceWith(runs['running']!));
    act(() => {
      vi.advanceTimersByTime(5000);
    });
    expect(row(2).textContent).toContain('2.40 s');
  });
});

describe('the inspector', () => {
  it('shows who did not object above the decisive voice, and who was outranked below', () => {
    show(traceWith(designRun), 2);
    const rungs = [...pane().querySelectorAll('h4')].map((h) => h.textContent);
    expect(rungs).toEqual([
      'Forbidnobody',
      'Request1nobody forbids, so one is enough',
      'Allow stopnobody',
      'Allow9outranked',
    ]);
    const card = pane().querySelector('.voice[data-decisive]')!;
    expect(card.textContent).toContain('ToolCallPresenceCheck');
    expect(pane().textContent).toContain(
      'Went on because the model called enrich_company, search_entities.',
    );
    expect(pane().textContent).toContain('requested by ToolCallPresenceCheck');
    expect(has(/Grant/)).toBe(false);
  });

  it('ends a stop in the banner whose button grants exactly that', () => {
    const { onGrant } = show(traceWith(designRun));
    press('Grant 5 steps', pane());
    expect(onGrant).toHaveBeenCalledExactlyOnceWith({ steps: 5 });
    expect(pane().textContent).toContain('decided by StepsLimit');
  });

  it('tags the user’s own voices and shows reasons as recorded', () => {
    show(traceWith(designRun));
    const own = [...pane().querySelectorAll('.voice')].find((v) =>
      v.textContent?.includes('LeadHasOwner'),
    )!;
    expect(own.textContent).toBe('LeadHasOwnercustomlead_2231 has an owner, so stopping is fine');
    const steps = [...pane().querySelectorAll('.voice')].find((v) =>
      v.textContent?.startsWith('StepsLimit'),
    )!;
    expect(steps.textContent).not.toContain('custom');
  });

  it('says of a stop in the middle that more was granted', () => {
    const stopped = traceWith(designRun);
    const after = { ...stopped.steps[0]!, number: 7, at: 18_000 };
    show({ ...stopped, steps: [...stopped.steps, after], stop: null, status: 'processing' }, 6);
    expect(pane().textContent).toContain('it used all 5 of its 5 steps');
    expect(pane().textContent).toContain('More was granted, and it went on with the next step.');
    expect(has(/Grant/)).toBe(false);
  });

  it('pages, and forks from a step that is over', () => {
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
    expect(pane().textContent).toContain('Waiting because delete_program_lead needs your approval');
  });

  it('copies the account of a step as plain text, and says when it may not', async () => {
    const user = userEvent.setup();
    show(traceWith(designRun));
    await user.click(screen.getByRole('button', { name: 'Copy explanation' }));
    const text = await navigator.clipboard.readText();
    expect(text).toContain(
      'Session ses_01, execution exec_1\nStep 6 · 1.56 s · finish_reason tool_calls · 1 call\n',
    );
    expect(text).toContain(
      'Stopped (steps_limit) by StepsLimit: 5 of 5 steps used while work is still pending.',
    );
    expect(text).toMatch(/allow {4}TokenUsageLimit +9924 of 40000 tokens/);
    expect(text).toContain('it would go on if it had 5 more steps.');
    await screen.findByText('Copied');
    vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('no'));
    await user.click(screen.getByText('Copied'));
    await screen.findByText('Not copied');
  });
});

describe('the matrix', () => {
  it('names every vote, and marks the decisive ones', () => {
    show(traceWith(designRun));
    for (const name of [
      'StepsLimit, step 3: allow',
      'StepsLimit, step 6: forbid, decisive',
      'LeadHasOwner, step 6: allow stop',
    ])
      expect(labelled(name).getAttribute('role')).toBe('img');
    expect(document.querySelectorAll('.trace-matrix th[scope="row"]')).toHaveLength(10);
  });

  it('selects the step of a column', () => {
    const { onSelect } = show(traceWith(designRun));
    press('Step 3');
    expect(onSelect).toHaveBeenCalledExactlyOnceWith(3);
    expect(title()).toBe('Step 3');
  });

  it('shows 24 of 150 steps and which', () => {
    show(longTrace(150));
    expect(document.querySelectorAll('.trace-matrix th[scope="col"]')).toHaveLength(24);
    expect(screen.getByText(/127 to 150/)).toBeTruthy();
  });
});

describe('where the time went', () => {
  it('has shares of the work, and pauses without one', () => {
    show(traceWith(designRun));
    const part = (name: string) =>
      [...document.querySelectorAll('.trace-spent tr')].find((r) => r.textContent.startsWith(name))
        ?.textContent;
    expect(part('Tools')).toMatch(/9 calls, 1 failed8\.06 s4\d %/);
    expect(part('Model')).toMatch(/6 calls, 1 failed7\.04 s41 %/);
    expect(part('Backoff')).toMatch(/2\.00 s12 %/);
    expect(part('Paused')).toMatch(/never counted4m 12s–/);
  });
});

it('shows what models and tools wrote as text', () => {
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
