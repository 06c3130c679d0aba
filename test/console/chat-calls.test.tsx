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
    expect(tags).toEqual(['Step 1', 'Step 2', 'Step 4', 'Step 5', 'Step 6']);
    await userEvent.click(screen.getByRole('button', { name: 'Step 4, open in the trace' }));
    expect(opened).toEqual([[4]]);
  });

  it('show name, arguments, result and duration in a row', () => {
    render(<ChatView {...scenes.stopped()} />);
    expect(rows()).toEqual([
      'search_entities | program · Nordlicht | 2 results | 0.41 s',
      'search_entities | lead · Helvetia Robotic | 1 result | 0.41 s',
      'enrich_company | helvetia-robotics.ch | timed out | 5.00 s',
      'search_entities | contact · Helvetia Robotics | 1 result | 0.41 s',
      'enrich_company | helvetia-robotics.ch | retry 1 of 3 · 84 employees, Winterthur | 0.41 s',
      'search_entities | owner_of prg_118 | 1 result | 0.41 s',
      'create_program_lead | Helvetia Robotics AG · program prg_118 | lead_2231 | 0.41 s',
      'delete_program_lead | lead_2207 | approved by you after 4m 12s | 0.41 s',
      'search_entities | lead · in prg_118 | 12 results | 0.41 s',
    ]);
  });

  it('keep retries and failed model calls in order, as rows of their own', () => {
    render(<ChatView {...scenes.stopped()} />);
    const parts = [...document.querySelectorAll('.turn:last-child > :is(.calls, .event, .said)')];
    expect(parts.map(({ className }) => className)).toEqual([
      'said',
      'calls',
      'calls',
      'event',
      'calls',
      'said',
      'calls',
      'calls',
    ]);
    expect(document.querySelector('.event-words')?.textContent).toBe(
      'Rate limited by the provider. Waited 2 s and tried again (attempt 2). Details',
    );
  });

  it('keep their marks from the record, without a trace', () => {
    const props = scenes.stopped();
    const { messages } = props.session;
    const marked = messages.map((one) =>
      one.metadata.tool_call_id === undefined
        ? { ...one, metadata: { ...one.metadata, step: 3, execution_id: 'exe_0' } }
        : {
            ...one,
            metadata: {
              ...one.metadata,
              tool_retry: { number: 2, limit: null },
              tool_approval: { decision: 'edited', by: 'ann', at: '' } as const,
            },
          },
    );
    const opened: unknown[][] = [];
    render(
      <ChatView
        {...props}
        trace={null}
        session={{ ...props.session, state: { ...props.session.state, messages: marked } }}
        onOpenStep={(...step) => opened.push(step)}
      />,
    );
    expect(rows().at(-1)).toContain('retry 2 · approved by you, edited · 12 results');
    fireEvent.click(screen.getAllByRole('button', { name: 'Step 3, open in the trace' })[0]!);
    expect(opened).toEqual([[3, 'exe_0']]);
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

  it('open if they failed, and can be closed', () => {
    render(<ChatView {...scenes.live()} />);
    const [fine, failed] = document.querySelectorAll<HTMLDetailsElement>('.call');
    expect([fine?.open, failed?.open]).toEqual([false, true]);
    expect(failed?.querySelector('.call-error')?.textContent).toBe(
      'Timed out. Tool "enrich_company" took longer than its 5000 ms.',
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

  it('show a failed model call without tools as an event', () => {
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
    expect(document.querySelector('.event-words')?.textContent).toBe(
      'Rate limited by the provider. Waited 2 s and tried again (attempt 2). Details',
    );
  });
});
