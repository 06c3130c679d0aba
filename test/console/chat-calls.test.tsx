// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ChatView } from '../../src/console/chat/chat-view.tsx';
import { bar, outcome, step, traceOfSteps, wireAt } from './chat-fixtures.ts';
import { rows, liveProps } from './chat-setup.ts';
import { scenes } from './chat-scenes.ts';

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

describe('calls', () => {
  it('are grouped by step, and the tag opens the trace at the step', async () => {
    const opened: unknown[][] = [];
    render(<ChatView {...scenes.stopped()} onOpenStep={(number) => opened.push([number])} />);
    const tags = [...document.querySelectorAll('.step-tag')].map(({ textContent }) => textContent);
    expect(tags).toEqual(['Step 1', 'Step 2 – 4', 'Step 5', 'Step 6']);
    await userEvent.click(screen.getByRole('button', { name: 'Step 2 – 4, open in the trace' }));
    expect(opened).toEqual([[4]]);
  });

  it('show name, arguments, result and duration in a row', () => {
    render(<ChatView {...scenes.stopped()} />);
    expect(rows()).toEqual([
      'search_entities | program · Nordlicht | 2 results | 0.41 s',
      'search_entities | lead · Helvetia Robotic | 1 result | 0.41 s',
      'enrich_company | helvetia-robotics.ch | retried 1/3 | 0.41 s',
      'search_entities | contact · Helvetia Robotics | 1 result | 0.41 s',
      'search_entities | owner_of prg_118 | 1 result | 0.41 s',
      'create_program_lead | Helvetia Robotics AG · program prg_118 | lead_2231 | 0.41 s',
      'delete_program_lead | lead_2207 | approved by you · 4m 12s | 0.41 s',
      'search_entities | lead · in prg_118 | 12 results | 0.41 s',
    ]);
  });

  it('show a retry as one row with all attempts and model waits', () => {
    render(<ChatView {...scenes.stopped()} />);
    const tries = [...document.querySelectorAll('.tries > li')].map(
      ({ textContent }) => textContent,
    );
    expect(tries).toEqual([
      'First attempt timeout — Tool "enrich_company" took longer than its 5000 ms.5.00 s',
      'Model rate-limited — rate_limit: 429 Too Many Requests, retry-after 2 s. Waited 2 s, then the same messages were sent again (attempt 2).2.24 s',
      'Second attempt — 84 employees, Winterthur0.41 s',
    ]);
  });

  it('detect a retry by the tool name without a trace', () => {
    render(<ChatView {...scenes.stopped()} trace={null} />);
    expect(rows()[2]).toBe('enrich_company | helvetia-robotics.ch | retried once | 0.41 s');
    expect(document.querySelector('.step-tag')).toBeNull();
  });

  it('are separate if the trace records no retry', () => {
    const wire = wireAt();
    const props = liveProps(
      [
        wire.started(),
        wire.user('x'),
        wire.step(1),
        wire.tool('search', 'a', { q: '1' }),
        wire.toolDone('search', 'a', 'Error: no', 'no'),
        wire.stepDone(1, true),
        wire.step(2),
        wire.tool('search', 'b', { q: '2' }),
        wire.toolDone('search', 'b', '[]'),
      ],
      traceOfSteps('processing', [
        step(1, [bar('search', 'a', { state: 'error', error: 'no' })]),
        step(2, [bar('search', 'b')], { type: 'running' }),
      ]),
    );
    render(<ChatView {...props} />);
    expect(rows()).toEqual(['search | 1 | failed | 0.31 s', 'search | 2 | 0 results | 0.31 s']);
  });

  it('open if they failed, show the policy, and can be closed', () => {
    render(<ChatView {...scenes.live()} />);
    const [fine, failed] = document.querySelectorAll<HTMLDetailsElement>('.call');
    expect([fine?.open, failed?.open]).toEqual([false, true]);
    expect(failed?.querySelector('.call-error')?.textContent).toBe(
      'timeout — Tool "enrich_company" took longer than its 5000 ms.',
    );
    expect(failed?.querySelector('.call-policy')?.textContent).toBe(
      'timeout in enrich_company, retrying (1/3)',
    );
    failed!.open = false;
    fireEvent(failed!, new Event('toggle'));
    expect(failed?.open).toBe(false);
  });

  it('show in the row if they are denied, aborted, lost or truncated', () => {
    render(<ChatView {...scenes.hostile()} />);
    expect(
      rows()
        .slice(1)
        .map((row) => row.split(' | ')[2]),
    ).toEqual([
      'long result',
      'effect unknown after a crash, not run again',
      'Denied by a person: still in negotiation',
      'Not finished: you stopped the run',
    ]);
  });

  it('show arguments and result as text, and load a truncated result', async () => {
    const fetchRef = vi.fn(async () => ({ html: '<script>1</script>' }));
    render(<ChatView {...scenes.hostile()} fetchRef={fetchRef} />);
    const [, big] = document.querySelectorAll<HTMLDetailsElement>('.call');
    big!.open = true;
    fireEvent(big!, new Event('toggle'));
    await userEvent.click(within(big!).getByRole('button', { name: 'Load all' }));
    expect(fetchRef).toHaveBeenCalledWith('7.result.exe_1');
    await waitFor(() =>
      expect(within(big!).getByLabelText('Result').textContent).toBe(
        '{ "html": "<script>1</script>" }',
      ),
    );
    expect(document.querySelector('script')).toBeNull();
  });

  it('show the activity of a nested agent below the group', () => {
    render(<ChatView {...scenes.working()} />);
    expect(document.querySelector('.calls > .calls-note')?.textContent).toContain(
      'Running search_web…',
    );
    expect(screen.queryByText(/Running enrich_company/)).toBeNull();
  });

  it('show a failed model call without tools as a line with its step', () => {
    const wire = wireAt();
    const props = liveProps(
      [wire.started(), wire.user('x'), wire.step(1), wire.stepDone(1)],
      traceOfSteps('processing', [
        step(1, [], {
          type: 'error',
          bars: [
            bar('model', null, { state: 'error', error: 'Too many requests', durationMs: 100 }),
          ],
          waitMs: 2_000,
          outcome: {
            ...outcome(true, ''),
            evaluations: [
              {
                criterion: 'ErrorPolicyCriterion',
                decision: 'allow',
                reason: '',
                context: { errorType: 'rate_limit' },
              },
            ],
          },
        }),
      ]),
    );
    render(<ChatView {...props} />);
    expect(document.querySelector('.tries-alone')?.textContent).toBe(
      'Model rate-limited — Too many requests. Waiting 2 s before attempt 2.2.10 s',
    );
    expect(document.querySelector('.step-tag')?.textContent).toBe('Step 1');
  });
});
