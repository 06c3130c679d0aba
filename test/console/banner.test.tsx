// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { GrantState, StopBannerProps } from '../../src/console/contract.ts';
import { StopBanner } from '../../src/console/stop-banner.tsx';
import { grantStop, messageAction, resumeAction, stop } from './stop-sentences.ts';

afterEach(cleanup);

const stepsLimit = grantStop(
  'Stopped because',
  'it used 5 of 5 steps before the model read a tool result',
  { steps: 5 },
);

function show(more: Partial<StopBannerProps> = {}) {
  const asked = { onGrant: vi.fn(), onResume: vi.fn(), onNewMessage: vi.fn() };
  const props: StopBannerProps = {
    stop: stepsLimit,
    status: 'stopped',
    reason: 'steps_limit',
    resolvedBy: 'StepsLimit',
    grantState: { kind: 'ready' },
    ...asked,
    ...more,
  };
  const view = render(<StopBanner {...props} />);
  const again = (grantState: GrantState): void =>
    view.rerender(<StopBanner {...props} grantState={grantState} />);
  return { ...asked, ...view, again };
}

const banner = (): HTMLElement => screen.getByRole('region', { name: 'Why it stopped' });

describe('StopBanner', () => {
  it('shows why it stopped, how to continue, and which criterion decided', () => {
    show();
    expect(banner().textContent).toContain(
      'Stopped because it used 5 of 5 steps before the model read a tool result.To continue, add 5 steps.',
    );
    expect(banner().textContent).toContain('steps_limit');
    expect(banner().textContent).toContain('decided by StepsLimit');
  });

  it('grants exactly the suggested amount', async () => {
    const { onGrant, onResume } = show();
    const button = screen.getByRole('button', { name: 'Continue with 5 more steps' });
    expect(button.dataset['key']).toBe('grant');
    await userEvent.click(button);
    expect(onGrant).toHaveBeenCalledExactlyOnceWith({ steps: 5 });
    expect(onResume).not.toHaveBeenCalled();
  });

  it('ignores a second click while it grants, and keeps the focus', async () => {
    const { onGrant, again } = show();
    screen.getByRole('button', { name: 'Continue with 5 more steps' }).focus();
    again({ kind: 'sending' });
    const button = screen.getByRole('button', { name: 'Continuing…' });
    expect(button.getAttribute('aria-disabled')).toBe('true');
    expect(document.activeElement).toBe(button);
    await userEvent.click(button);
    expect(onGrant).not.toHaveBeenCalled();
  });

  it('is replaced by a line with the grant', () => {
    const { again } = show();
    again({
      kind: 'granted',
      text: 'You allowed 5 more steps · 14:11',
      at: '2026-01-16T14:11:00Z',
    });
    expect(screen.getByRole('status').textContent).toBe('You allowed 5 more steps · 14:11');
    expect(screen.queryByRole('button')).toBeNull();
    expect(screen.queryByText(/Stopped because/)).toBeNull();
  });

  it('shows why a grant failed, and can be retried', async () => {
    const { again, onGrant } = show();
    again({ kind: 'failed', message: 'Already allowed in another tab.' });
    expect(screen.getByRole('status').textContent).toBe('Already allowed in another tab.');
    await userEvent.click(screen.getByRole('button', { name: 'Continue with 5 more steps' }));
    expect(onGrant).toHaveBeenCalledOnce();
  });

  it('resumes or opens the chat if no grant helps', async () => {
    const resume = stop('Waiting because', 'it was paused on request', [resumeAction]);
    const first = show({ stop: resume, status: 'paused' });
    await userEvent.click(screen.getByRole('button', { name: 'Resume' }));
    expect(first.onResume).toHaveBeenCalledOnce();
    cleanup();
    const message = stop('Stopped because', "one of this assistant's rules ended it", [
      messageAction,
    ]);
    const second = show({ stop: message });
    const button = screen.getByRole('button', { name: 'New message' });
    expect(button.dataset['key']).toBeUndefined();
    await userEvent.click(button);
    expect(second.onNewMessage).toHaveBeenCalledOnce();
    expect(second.onGrant).not.toHaveBeenCalled();
  });

  it('shows a developer what to change if no button helps', () => {
    const action = {
      kind: 'change',
      option: 'apiKey',
      text: 'To continue, ask the operator to correct the API key.',
      developerText: 'set a valid API key.',
    } as const;
    show({ stop: stop('Failed because', 'the key was refused', [action]), status: 'failed' });
    expect(screen.getByText('To continue, ask the operator to correct the API key.')).toBeTruthy();
    expect(screen.getByText('To continue: set a valid API key.')).toBeTruthy();
    expect(screen.queryByRole('button')).toBeNull();
  });

  it.each([
    ['stopped', 'neutral', 'stopped'],
    ['failed', 'failed', 'failed'],
    ['completed', 'done', 'done'],
    ['cancelled', 'quiet', 'cancelled'],
    ['paused', 'waiting', 'paused'],
  ] as const)('has a tone and a glyph for %s', (status, tone, glyph) => {
    show({ status });
    expect(banner().dataset['tone']).toBe(tone);
    expect(banner().querySelector('svg')?.dataset['glyph']).toBe(glyph);
  });

  it('shows a note and its children without an action for a completed run', () => {
    show({
      stop: stop('Finished because', 'the model answered', [], 'It answered with what it had.'),
      status: 'completed',
      reason: 'completed',
      resolvedBy: null,
      children: <a href="#trace">See all criteria</a>,
    });
    expect(banner().textContent).toContain('Finished because the model answered.');
    expect(banner().textContent).not.toContain('To continue');
    expect(banner().textContent).not.toContain('decided by');
    expect(banner().textContent).toContain('It answered with what it had.');
    expect(screen.getByRole('link', { name: 'See all criteria' })).toBeTruthy();
    expect(screen.queryByRole('button')).toBeNull();
  });

  it('renders markup of a model or tool as text', () => {
    show({ stop: stop('Failed because', '<img src=x onerror=alert(1)> failed') });
    expect(banner().querySelector('img')).toBeNull();
    expect(banner().textContent).toContain('<img src=x onerror=alert(1)>');
  });
});
