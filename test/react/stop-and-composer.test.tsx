// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Composer, StopExplanation } from '../../src/react/index.ts';
import type { UiStop } from '../../src/ui/ui-state.ts';
import { seriousInDocument } from '../setup/axe-dom.ts';
import { Wire } from './fake-source.ts';
import { stateAfter, failed } from './component-fixtures.ts';

afterEach(cleanup);

describe('StopExplanation', () => {
  const limit = stateAfter(new Wire().limit()).stop!;
  const stopOf = (more: Partial<UiStop>): UiStop => ({ ...limit, ...more });

  it('D02: explains the stop and how to continue, without code, and grants exactly that', async () => {
    const onResume = vi.fn();
    render(<StopExplanation stop={limit} action={null} onResume={onResume} />);
    const box = screen.getByRole('region', { name: 'Stopped' });
    expect(box.textContent).toContain(
      'The limit of steps was reached: 5 of 5 steps, and a tool result is unread.',
    );
    expect(box.textContent).toContain('To continue, add 5 steps.');
    // users read no code and no class names
    expect(box.textContent).not.toMatch(/withMaxSteps|StepsLimit|steps_limit/);
    expect(await seriousInDocument()).toEqual([]);
    await userEvent.click(screen.getByRole('button', { name: 'Continue with 5 more steps' }));
    expect(onResume).toHaveBeenCalledExactlyOnceWith({ steps: 5 });
  });

  it('offers no more than the user may grant', async () => {
    const onResume = vi.fn();
    const allowance = { left: { steps: 2 }, grant: { steps: 2 } };
    render(
      <StopExplanation stop={limit} action={null} allowance={allowance} onResume={onResume} />,
    );
    expect(screen.getByRole('region').textContent).toContain('To continue, add 2 steps.');
    await userEvent.click(screen.getByRole('button', { name: 'Continue with 2 more steps' }));
    expect(onResume).toHaveBeenCalledExactlyOnceWith({ steps: 2 });
  });

  it('offers no grant and refers to the operator if the user may grant no more', () => {
    const allowance = { left: {}, grant: null };
    render(<StopExplanation stop={limit} action={null} allowance={allowance} onResume={vi.fn()} />);
    expect(screen.queryByRole('button')).toBeNull();
    expect(screen.getByRole('region').textContent).toContain(
      'To continue, ask an operator for more, or send a new message.',
    );
  });

  it.each<[string, Partial<UiStop>, string | null, string]>([
    [
      'tokens',
      { remedy: { text: 't', grant: { tokens: 20_000 } } },
      'Continue with 20,000 more tokens',
      'To continue, add 20,000 tokens.',
    ],
    [
      'money',
      { remedy: { text: 't', grant: { cost: 0.05 } } },
      'Continue with $0.05 more',
      'add $0.05.',
    ],
    [
      'one retry',
      { remedy: { text: 't', grant: { retries: 1 } } },
      'Continue with 1 more retry',
      'To continue, try again.',
    ],
    [
      'two kinds',
      { remedy: { text: 't', grant: { steps: 1, seconds: 60 } } },
      'Continue with 1 more step and 60 more seconds',
      'To continue, add 1 step and 60 seconds.',
    ],
    [
      'no grant',
      { remedy: { text: 'raise the limit with withSessionSteps(9).' } },
      null,
      'To continue: raise the limit with withSessionSteps(9).',
    ],
    [
      'a pause',
      { status: 'paused', stop_reason: null, remedy: { text: 'resume the session.' } },
      'Resume',
      'To continue: resume the session.',
    ],
    [
      'an error',
      { status: 'failed', stop_message: 'An error ended the run.', error_message: 'tool: boom' },
      'Continue with 5 more steps',
      'tool: boom',
    ],
    [
      'completed',
      {
        status: 'completed',
        stop_reason: 'completed',
        remedy: null,
        stop_message: 'Done: it answered.',
      },
      null,
      'Done: it answered.',
    ],
  ])('%s', (_case, more, button, text) => {
    render(<StopExplanation stop={stopOf(more)} action={null} onResume={() => {}} />);
    expect(document.body.textContent).toContain(text);
    expect(screen.queryByRole('button')?.textContent ?? null).toBe(button);
  });

  it('ignores clicks while a grant is pending', async () => {
    const onResume = vi.fn();
    render(
      <StopExplanation
        stop={limit}
        action={{ ...failed('', 'resume'), status: 'pending', error: null }}
        onResume={onResume}
      />,
    );
    const button = screen.getByRole('button', { name: 'Continuing…' });
    expect(button.getAttribute('aria-disabled')).toBe('true');
    await userEvent.click(button);
    expect(onResume).not.toHaveBeenCalled();
  });
});

describe('Composer', () => {
  it('sends on Enter, adds a line on Shift+Enter, and ignores Enter of an input method', async () => {
    const onSend = vi.fn();
    render(<Composer onSend={onSend} blockedBy={null} />);
    const box = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
    await userEvent.type(box, 'one{Shift>}{Enter}{/Shift}two');
    expect(box.value).toBe('one\ntwo');
    fireEvent.keyDown(box, { key: 'Enter', isComposing: true });
    fireEvent.keyDown(box, { key: 'Enter', keyCode: 229 });
    expect(onSend).not.toHaveBeenCalled();
    await userEvent.keyboard('{Enter}');
    expect(onSend).toHaveBeenCalledExactlyOnceWith('one\ntwo');
    expect(box.value).toBe('');
    await userEvent.keyboard('   {Enter}');
    expect(onSend).toHaveBeenCalledTimes(1);
    expect(await seriousInDocument()).toEqual([]);
  });

  it('shows the reason, keeps the draft and offers Stop while sending is blocked', async () => {
    const onSend = vi.fn();
    const onStop = vi.fn();
    const { rerender } = render(<Composer onSend={onSend} blockedBy="It works." onStop={onStop} />);
    const box = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
    expect(box.placeholder).toBe('It works.');
    await userEvent.type(box, 'next{Enter}');
    expect(onSend).not.toHaveBeenCalled();
    expect(box.value).toBe('next');
    expect(document.getElementById(box.getAttribute('aria-describedby')!)?.textContent).toBe(
      'It works.',
    );
    await userEvent.click(screen.getByRole('button', { name: 'Stop' }));
    expect(onStop).toHaveBeenCalledTimes(1);
    rerender(<Composer onSend={onSend} blockedBy={null} />);
    expect(box.value).toBe('next');
    await userEvent.type(box, '{Enter}');
    expect(onSend).toHaveBeenCalledWith('next');
  });

  it('disables the field if it is locked and blocked, and keeps the draft', async () => {
    const { rerender } = render(<Composer onSend={vi.fn()} blockedBy={null} isLocked />);
    const box = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
    await userEvent.type(box, 'draft');
    rerender(<Composer onSend={vi.fn()} blockedBy="Answer first" isLocked />);
    expect([box.disabled, box.value]).toEqual([true, 'draft']);
    expect(document.querySelector('.onward-composer-why')?.textContent).toBe('Answer first');
  });

  it('inserts a draft once before the current text', async () => {
    const { rerender } = render(<Composer onSend={vi.fn()} blockedBy={null} draft={null} />);
    const box = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
    await userEvent.type(box, 'more');
    const draft = { text: 'first' };
    rerender(<Composer onSend={vi.fn()} blockedBy={null} draft={draft} />);
    rerender(<Composer onSend={vi.fn()} blockedBy={null} draft={draft} />);
    expect(box.value).toBe('first\nmore');
  });

  it('offers Queue instead of Stop while the user types, and stops once', async () => {
    const onStop = vi.fn();
    const props = { onSend: vi.fn(), blockedBy: null, onStop, sendLabel: 'Queue', note: 'step 2' };
    const { rerender } = render(<Composer {...props} />);
    expect(screen.queryByRole('button', { name: 'Queue' })).toBeNull();
    expect(screen.getByText('step 2')).toBeTruthy();
    await userEvent.type(screen.getByRole('textbox'), 'next');
    await userEvent.click(screen.getByRole('button', { name: 'Queue' }));
    expect(props.onSend).toHaveBeenCalledExactlyOnceWith('next');
    rerender(<Composer {...props} isStopping />);
    await userEvent.click(screen.getByRole('button', { name: 'Stopping…' }));
    expect(onStop).not.toHaveBeenCalled();
  });
});
