// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ChatView } from '../../src/console/chat/chat-view.tsx';
import type { ChatViewProps } from '../../src/console/contract.ts';
import type { UiState } from '../../src/ui/ui-state.ts';
import {
  chatProps,
  detailOf,
  message,
  sessionOf,
  stateAfter,
  stepsStop,
  wireAt,
} from './chat-fixtures.ts';
import { scenes } from './chat-scenes.ts';
import { action, liveProps } from './chat-setup.ts';
import { resumeAction, stop as stopOf } from './stop-sentences.ts';

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

describe('an imported session', () => {
  it('is shown without anything to answer or to send', () => {
    const props = scenes.approval();
    const imported = {
      sessionId: 'ses_9',
      exportedAt: '2026-01-02T03:04:05.000Z',
      importedAt: '2026-01-03T00:00:00.000Z',
      isRedacted: true,
    };
    const { rerender } = render(<ChatView {...props} />);
    expect(screen.getAllByRole('textbox').length).toBeGreaterThan(0);
    expect(screen.queryByRole('button', { name: /approve/i })).not.toBeNull();
    rerender(<ChatView {...props} detail={detailOf({ ...props.detail, imported })} />);
    expect(screen.queryByRole('textbox')).toBeNull();
    expect(screen.queryByRole('button', { name: /approve/i })).toBeNull();
    expect(screen.getByRole('note').textContent).toBe(
      'Imported copy, read-only. Exported from session ses_9 on 2026-01-02 03:04 UTC, without secrets.',
    );
  });
});

describe('the conversation', () => {
  const turnsOf = (count: number): UiState =>
    stateAfter(
      [],
      Array.from({ length: count }, (_, i) => [
        message(`u${i}`, 'user', `Question ${i}`),
        message(`a${i}`, 'assistant', `Answer ${i}`),
      ]).flat(),
    );

  it('collapses earlier turns if it is long', async () => {
    render(<ChatView {...chatProps(sessionOf(turnsOf(6)))} />);
    expect(screen.queryByText('Answer 3')).toBeNull();
    expect(screen.getByText('Answer 4')).toBeTruthy();
    const fold = screen.getByRole('button', { name: '4 earlier turns · 4 steps' });
    expect(fold.getAttribute('aria-expanded')).toBe('false');
    await userEvent.click(fold);
    expect(screen.getByText('Answer 0')).toBeTruthy();
    expect(
      screen.getAllByRole('heading', { level: 2 }).map((one) => one.textContent?.split(',')[0]),
    ).toEqual(['Turn 1', 'Turn 2', 'Turn 3', 'Turn 4', 'Turn 5', 'Turn 6']);
  });

  it('shows collapsed reasoning above the text and calls', async () => {
    const state = stateAfter(
      [],
      [
        message('u', 'user', 'Lamps?'),
        message('a', 'assistant', '', {
          metadata: {
            reasoning: 'I should <b>look</b>.',
            tool_calls: [{ id: 'c', name: 'stock', args: {}, args_summary: '{}' }],
          },
        }),
        message('b', 'assistant', 'Seven.', { metadata: { reasoning: 'It says 7.' } }),
      ],
    );
    render(<ChatView {...chatProps(sessionOf(state))} />);
    const folds = screen.getAllByText('Reasoning');
    expect(folds).toHaveLength(2);
    expect(screen.queryByText('It says 7.')).toBeNull();
    await userEvent.click(folds[0]!);
    const text = screen.getByText('I should <b>look</b>.');
    const call = document.querySelector('.turn details:not(.onward-reasoning), .turn .call')!;
    expect(text.compareDocumentPosition(call) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
  });

  it('does not collapse visible turns when new ones arrive', () => {
    const { rerender } = render(<ChatView {...chatProps(sessionOf(turnsOf(3)))} />);
    rerender(<ChatView {...chatProps(sessionOf(turnsOf(6)))} />);
    expect(screen.getByText('Answer 0')).toBeTruthy();
    expect(document.querySelector('.earlier')).toBeNull();
  });

  it('resets for another session', () => {
    const of = (count: number, id: string): ChatViewProps =>
      chatProps(sessionOf({ ...turnsOf(count), sessionId: id }));
    const { rerender } = render(<ChatView {...of(3, 'ses_1')} />);
    fireEvent.change(screen.getByRole('textbox'), { target: { value: 'draft' } });
    rerender(<ChatView {...of(6, 'ses_2')} />);
    expect(document.querySelector('.earlier')).toBeTruthy();
    expect(screen.getByRole<HTMLTextAreaElement>('textbox').value).toBe('');
  });

  it('shows a caret for streamed text, which is not announced', () => {
    render(<ChatView {...scenes.live()} />);
    expect(document.querySelector('.said .caret')).toBeTruthy();
    expect(screen.getByRole('log').getAttribute('aria-live')).toBe('off');
    expect(document.querySelector('[role="status"]')?.textContent).toBe('');
  });

  it('strikes out discarded text and then removes it', () => {
    vi.useFakeTimers();
    const wire = wireAt();
    const begun = [wire.started(), wire.user('x'), wire.step(1), wire.chunk('Half an ans', 0)];
    const { rerender } = render(<ChatView {...liveProps(begun)} />);
    const after = [...begun, wire.make('agent.stream.discarded', { step: 1, attempt: 1 })];
    rerender(<ChatView {...liveProps(after)} />);
    expect(document.querySelector('.discarded')?.textContent).toBe('Half an ans');
    act(() => void vi.advanceTimersByTime(2_000));
    expect(document.querySelector('.discarded')).toBeNull();
  });

  it('does not strike out a finished text', () => {
    const wire = wireAt();
    const begun = [wire.started(), wire.user('x'), wire.step(1), wire.chunk('Half an ans', 0)];
    const { rerender } = render(<ChatView {...liveProps(begun)} />);
    rerender(<ChatView {...liveProps([...begun, wire.says('Half an answer.')])} />);
    expect(document.querySelector('.discarded')).toBeNull();
  });

  it('shows why a message was not sent, and offers a retry with the same id or an edit', async () => {
    const asked: unknown[][] = [];
    const state = stateAfter([], [message('m1', 'user', 'Hello', { metadata: { pending: true } })]);
    const failed = action({
      id: 'm1',
      kind: 'send',
      about: 'm1',
      status: 'failed',
      error: new Error('The server does not respond.'),
    });
    render(<ChatView {...chatProps(sessionOf(state, { actions: [failed] }, asked))} />);
    expect(screen.getByRole('alert').textContent).toContain(
      'Not sent. The server does not respond.',
    );
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await userEvent.click(screen.getByRole('button', { name: 'Edit' }));
    expect(asked).toEqual([
      ['retry', 'm1'],
      ['dismiss', 'm1'],
    ]);
    expect(screen.getByRole<HTMLTextAreaElement>('textbox').value).toBe('Hello');
  });

  it('renders no HTML of models and tools', () => {
    render(<ChatView {...scenes.hostile()} />);
    expect(document.querySelector('.chat :is(script, img, iframe)')).toBeNull();
    expect(document.querySelector('.user-text')?.textContent).toContain('<script>');
  });
});

describe('the end of a turn', () => {
  it('shows why it stopped, and grants exactly the needed steps', async () => {
    const onGrant = vi.fn();
    const onOpenStep = vi.fn();
    render(<ChatView {...scenes.stopped()} onGrant={onGrant} onOpenStep={onOpenStep} />);
    expect(screen.getByText(/^Stopped because it used 5 of 5 steps/)).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: /Continue with 5 more steps/ }));
    expect(onGrant).toHaveBeenCalledWith({ steps: 5 });
    await userEvent.click(screen.getByRole('button', { name: 'View decision' }));
    expect(onOpenStep).toHaveBeenCalledWith(6);
    expect(screen.getByPlaceholderText('Send a new message instead')).toBeTruthy();
  });

  it('is one line for a completed run', () => {
    render(<ChatView {...scenes.completed()} />);
    expect(document.querySelector('.completed')?.textContent).toBe(
      'Completed in 2 steps · 4.60 s · $0.0153View decision',
    );
    expect(document.querySelector('.banner')).toBeNull();
  });

  it('shows the stop of the stream until the record arrives', () => {
    const props = scenes.stopped();
    const trace = props.trace!;
    const banner = (): string => document.querySelector('.banner')?.textContent ?? '';
    const button = (): Element | null => document.querySelector('.banner [data-key="grant"]');
    const { rerender } = render(<ChatView {...props} trace={null} />);
    expect(banner()).toContain('The limit of steps was reached');
    expect(button()).toBeNull();
    rerender(<ChatView {...props} trace={{ ...trace, status: 'processing' }} />);
    expect(button()).toBeNull();
    rerender(<ChatView {...props} trace={{ ...trace, executionId: 'exe_0' }} />);
    expect(button()).toBeNull();
    const detail = detailOf({ status: 'stopped', stop: stepsStop });
    rerender(<ChatView {...props} trace={null} detail={detail} />);
    expect(banner()).toContain('it used 5 of 5 steps');
    expect(button()).toBeTruthy();
  });

  it('keeps the stop and the grant as rows, above the rest of the run', () => {
    const wire = wireAt();
    const first = [
      wire.started(),
      wire.user('x'),
      wire.step(1),
      wire.tool('search', 'a', { q: '1' }),
      wire.toolDone('search', 'a', '[]'),
      wire.stepDone(1, true),
      wire.limit(),
    ];
    const kinds = (): string[] =>
      [...document.querySelectorAll<HTMLElement>('.turn > *')].map(({ className, dataset }) =>
        `${className} ${dataset['kind'] ?? ''}`.trim(),
      );
    const { rerender } = render(<ChatView {...liveProps(first)} />);
    expect(kinds()).toEqual(['day', 'visually-hidden', 'user', 'calls', 'banner']);
    rerender(<ChatView {...liveProps(first)} grantState={{ kind: 'sending' }} />);
    const after = [
      ...first,
      wire.granted({ steps: 5 }),
      wire.step(2),
      wire.says('Continuing.', 'msg_2', 2),
    ];
    const granted = {
      kind: 'granted',
      text: 'You allowed 5 more steps · 14:11',
      at: '2026-01-16T14:11:00.000Z',
    } as const;
    rerender(<ChatView {...liveProps(after)} grantState={granted} />);
    expect(kinds()).toEqual([
      'day',
      'visually-hidden',
      'user',
      'calls',
      'event stop',
      'event grant',
      'said',
    ]);
    expect(document.querySelector('.event[data-kind="grant"]')?.textContent).toMatch(
      /^You allowed 5 more steps\. *\d\d:\d\d$/,
    );
    expect(document.activeElement).toBe(screen.getByRole('log'));
  });

  it('shows time, step and a stop button while the run is busy', async () => {
    const asked: unknown[][] = [];
    const props = scenes.live();
    render(<ChatView {...props} session={sessionOf(props.session.state, {}, asked)} />);
    expect(document.querySelector('.onward-composer-note')?.textContent).toBe('4 s · step 3 of 5');
    await userEvent.click(screen.getByRole('button', { name: 'Stop' }));
    expect(asked).toEqual([['stop']]);
    await userEvent.type(screen.getByPlaceholderText('Queue a message'), 'next{Enter}');
    expect(asked[1]).toEqual(['send', 'next']);
  });

  it('offers to resume a paused run without an approval', async () => {
    const wire = wireAt();
    const onResume = vi.fn();
    const stop = stopOf('Waiting because', 'it was paused on request', [resumeAction]);
    const props = liveProps([wire.started(), wire.user('x'), wire.waits('x')]);
    render(<ChatView {...props} detail={detailOf({ stop })} onResume={onResume} />);
    await userEvent.click(screen.getByRole('button', { name: /Resume/ }));
    expect(onResume).toHaveBeenCalledOnce();
    expect(screen.getByRole<HTMLTextAreaElement>('textbox').disabled).toBe(true);
  });
});
