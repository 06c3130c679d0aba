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
  it('says why it stopped, how to continue, and which criterion decided', () => {
    show();
    expect(banner().textContent).toContain(
      'Stopped because it used 5 of 5 steps before the model read a tool result.To continue, add 5 steps.',
    );
    expect(banner().textContent).toContain('steps_limit');
    expect(banner().textContent).toContain('decided by StepsLimit');
  });

  it('grants exactly what the sentence says', async () => {
    const { onGrant, onResume } = show();
    const button = screen.getByRole('button', { name: 'Continue with 5 more steps' });
    expect(button.dataset['key']).toBe('grant');
    await userEvent.click(button);
    expect(onGrant).toHaveBeenCalledExactlyOnceWith({ steps: 5 });
    expect(onResume).not.toHaveBeenCalled();
  });

  it('cannot be pressed twice while it is granting, and keeps the focus', async () => {
    const { onGrant, again } = show();
    screen.getByRole('button', { name: 'Continue with 5 more steps' }).focus();
    again({ kind: 'sending' });
    const button = screen.getByRole('button', { name: 'Continuing…' });
    expect(button.getAttribute('aria-disabled')).toBe('true');
    expect(document.activeElement).toBe(button);
    await userEvent.click(button);
    expect(onGrant).not.toHaveBeenCalled();
  });

  it('becomes the line of what was granted, in its place', () => {
    const { again } = show();
    again({ kind: 'granted', text: 'Granted 5 steps · you · 14:11', at: '2026-01-16T14:11:00Z' });
    expect(screen.getByRole('status').textContent).toBe('Granted 5 steps · you · 14:11');
    expect(screen.queryByRole('button')).toBeNull();
    expect(screen.queryByText(/Stopped because/)).toBeNull();
  });

  it('says beside the button why a grant failed, and lets it be tried again', async () => {
    const { again, onGrant } = show();
    again({ kind: 'failed', message: 'Already granted in another tab.' });
    expect(screen.getByRole('status').textContent).toBe('Already granted in another tab.');
    await userEvent.click(screen.getByRole('button', { name: 'Continue with 5 more steps' }));
    expect(onGrant).toHaveBeenCalledOnce();
  });

  it('resumes, or opens the chat, where no grant is the answer', async () => {
    const resume = stop('Waiting because', 'it was paused on request', [resumeAction]);
    const first = show({ stop: resume, status: 'paused' });
    await userEvent.click(screen.getByRole('button', { name: 'Resume' }));
    expect(first.onResume).toHaveBeenCalledOnce();
    cleanup();
    const message = stop('Stopped because', 'a rule of this assistant ended it', [messageAction]);
    const second = show({ stop: message });
    const button = screen.getByRole('button', { name: 'New message' });
    expect(button.dataset['key']).toBeUndefined();
    await userEvent.click(button);
    expect(second.onNewMessage).toHaveBeenCalledOnce();
    expect(second.onGrant).not.toHaveBeenCalled();
  });

  it('says to a developer what has to change where no button helps', () => {
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
  ] as const)('%s has its own tone and its own shape', (status, tone, glyph) => {
    show({ status });
    expect(banner().dataset['tone']).toBe(tone);
    expect(banner().querySelector('svg')?.dataset['glyph']).toBe(glyph);
  });

  it('ends plainly where nothing has to be done, with its note and what stands beside it', () => {
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

  it('shows what a model or tool wrote as text', () => {
    show({ stop: stop('Failed because', '<img src=x onerror=alert(1)> failed') });
    expect(banner().querySelector('img')).toBeNull();
    expect(banner().textContent).toContain('<img src=x onerror=alert(1)>');
  });
});
