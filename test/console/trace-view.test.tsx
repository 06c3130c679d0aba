// @vitest-environment happy-dom
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { traceWith } from './trace-builder.ts';
import {
  beforeAnyStep,
  designRun,
  familyTrace,
  longTrace,
  many,
  nestedTrace,
  runs,
} from './trace-fixtures.ts';
import { show, pane, title, timeline, press, has, row, current } from './trace-screen.tsx';

// a page with many rows is slow without a browser
vi.setConfig({ testTimeout: 30_000 });

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('totals', () => {
  const total = (name: string) => screen.getByText(name, { selector: 'dt' }).parentElement!;

  it('show the used and allowed amounts, and what is not counted', () => {
    show(traceWith(designRun));
    expect(total('Steps').textContent).toBe('Steps5 /  of 51 failed call not counted');
    expect(total('Steps').querySelectorAll('[data-tone="full"] [data-on]')).toHaveLength(5);
    expect(total('Worked').textContent).toContain('4m 12s paused, not counted');
    expect(total('Tokens').textContent).toContain('9,490 in · 434 out');
    expect(total('Cost').textContent).toContain('$0.0225');
  });

  it('have no meter without a limit', () => {
    show(traceWith(runs['oneStep']!));
    expect(total('Tokens').querySelector('.meter')).toBeNull();
    expect(total('Tokens').textContent).toBe('Tokens1,2861,200 in · 86 out');
  });

  it('show that a cost is unknown and its limit is not enforced', () => {
    show(traceWith(runs['short']!));
    expect(total('Cost').textContent).toContain('unknown');
    expect(total('Cost').textContent).toContain('the limit is not enforced');
    expect(total('Cost').querySelector('.meter')).toBeNull();
  });

  it('show grants', () => {
    show({ ...traceWith(designRun), grants: { steps: 5, cost: 0.05 } });
    expect(total('Steps').textContent).toContain('5 more allowed');
    expect(total('Cost').textContent).toContain('$0.05 more allowed');
  });
});

describe('the timeline', () => {
  it('has a row for each step with duration, decision and criterion', () => {
    show(traceWith(designRun));
    expect([...timeline().querySelectorAll('li')]).toHaveLength(6);
    expect(row(2).textContent).toContain('6.18 s');
    expect(row(2).textContent).toContain('Continued');
    expect(row(2).textContent).not.toContain('ToolCallPresenceCheck');
    expect(row(3).textContent).toContain('failed call');
    expect(row(4).textContent).toContain('attempt 2');
    expect(row(6).textContent).toContain('Stopped · step limit');
    expect(row(6).querySelector('[data-glyph="forbid"]')).not.toBeNull();
  });

  it('follows the newest step until one is selected, and again on request', () => {
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

  it('moves selection and focus with arrows, J and K', () => {
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

  it('accepts J and K anywhere except in a text field', () => {
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

  it('has a row 0 for an outcome before the first step', () => {
    show(beforeAnyStep());
    expect(row(0).textContent).toContain('before the first step');
    expect(title()).toBe('Before the first step');
    expect(pane().textContent).toContain('this conversation used 100,212 of 100,000 tokens');
  });

  it('shows a hint if there are no steps', () => {
    show({ ...beforeAnyStep(), outcome: null, stop: null });
    expect(screen.getByText('No steps yet')).toBeTruthy();
  });

  it('offers earlier steps, and loads them for a link to a missing one', () => {
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

  it('renders only the visible ones of 5,000 steps', () => {
    show(longTrace(5000));
    expect(timeline().querySelectorAll('[data-step]').length).toBeLessThan(60);
    // the selected step is always rendered
    expect(current()).toEqual(['5000']);
    expect(row(5000).closest('li')?.getAttribute('aria-posinset')).toBe('5000');
  });

  it('renders up to 100 steps completely', () => {
    show(longTrace(100));
    expect(timeline().querySelectorAll('[data-step]')).toHaveLength(100);
  });
});

describe('a running step', () => {
  it('has no decision and grows until the next trace arrives', () => {
    vi.useFakeTimers();
    const trace = traceWith(runs['running']!);
    const { bring } = show(trace);
    expect(row(2).textContent).toContain('No decision yet');
    expect(pane().textContent).toContain('Checks are evaluated when it ends.');
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

  it('does not grow if the user prefers reduced motion', () => {
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

describe('agents behind calls', () => {
  it('are cards of their step, with totals and a button', () => {
    const { onOpenCall } = show(familyTrace());
    const cards = [...pane().querySelectorAll('.agent-card')].map(
      (card) => card.querySelector('div')?.textContent,
    );
    expect(cards.slice(0, 3)).toEqual([
      'research ran the agent researcherCompletedbehind research · 3 steps · 12,430 tokens · $0.0312',
      'write ran the agent writerWorkingbehind write · 3 steps · 12,430 tokens · $0.0312',
      'file ran the agent clerkPausedbehind file · 1 step · 12,430 tokens · $0.0312',
    ]);
    press('Open trace of clerk');
    expect(onOpenCall).toHaveBeenCalledExactlyOnceWith('call_3', 1);
  });

  it('are few at first', () => {
    show(familyTrace(24));
    expect(pane().querySelectorAll('.agent-card')).toHaveLength(6);
    press('Show 18 more');
    expect(pane().querySelectorAll('.agent-card')).toHaveLength(24);
  });

  it('show who is above them, and offer neither a fork nor a grant', () => {
    const { onOpenAbove } = show(nestedTrace());
    const above = screen.getByRole('navigation', { name: 'Agents above' });
    expect([...above.querySelectorAll('li')].map(({ textContent }) => textContent)).toEqual([
      'partner-assistant step 2',
      'researcher step 12',
      'reader Stopped',
    ]);
    press('partner-assistant step 2');
    expect(onOpenAbove).toHaveBeenCalledExactlyOnceWith({
      agent: 'partner-assistant',
      callId: null,
      step: 2,
    });
    expect(has(/Fork from here/)).toBe(false);
    expect(has(/^Continue with/)).toBe(false);
    expect(pane().textContent).toContain('Stopped because it used 5 of 5 steps');
  });
});
