// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { type ReactElement } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { GrantAllowance } from '../../src/continuation/grant-allowance.ts';
import { AgentChat, UsageView, useAgentSession } from '../../src/react/index.ts';
import { seriousInDocument } from '../setup/axe-dom.ts';
import { fakeSource, Wire } from './fake-source.ts';

afterEach(cleanup);

describe('AgentChat', () => {
  it('accepts labels, a text renderer and components', async () => {
    const { source, sink } = fakeSource();
    const Page = (): ReactElement => {
      const session = useAgentSession({ source, actions: { send: async () => {} } });
      return (
        <AgentChat
          session={session}
          labels={{
            placeholder: 'Nachricht schreiben',
            empty: 'Noch nichts.',
            send: 'Senden',
            message: 'Nachricht',
          }}
          renderText={(text) => <b>{text.toUpperCase()}</b>}
          components={{ Stop: ({ stop }) => <p>{`My own: ${stop.stop_reason}`}</p> }}
        />
      );
    };
    render(<Page />);
    expect(screen.getByText('Noch nichts.')).toBeTruthy();
    expect(screen.getByPlaceholderText('Nachricht schreiben')).toBeTruthy();
    const wire = new Wire();
    for (const envelope of [
      wire.started(),
      wire.user('hi'),
      wire.says('hello'),
      wire.stepDone(1),
      wire.limit(),
    ])
      sink().envelope(envelope);
    expect(await screen.findByText('HELLO')).toBeTruthy();
    expect(screen.getByText('My own: steps_limit')).toBeTruthy();
    expect(screen.getByText('1,234 tokens')).toBeTruthy();
    // the stop is shown once, not in the conversation
    expect(document.body.textContent).not.toContain('Stopped because');
    expect(await seriousInDocument()).toEqual([]);
  });

  it.each<[string, () => Promise<GrantAllowance | null>, string | null]>([
    [
      'the remaining steps',
      async () => ({ left: { steps: 2 }, grant: { steps: 2 } }),
      'Continue with 2 more steps',
    ],
    ['nothing', async () => ({ left: {}, grant: null }), null],
    ['everything if the server does not know', async () => null, 'Continue with 5 more steps'],
    [
      'everything if the server does not respond',
      () => Promise.reject(new Error('502')),
      'Continue with 5 more steps',
    ],
  ])('offers %s after reading the allowance of the user', async (_case, allowance, button) => {
    const { source, sink } = fakeSource();
    const read = vi.fn(allowance);
    const actions = { resume: async () => {} };
    const Page = (): ReactElement => (
      <AgentChat session={useAgentSession({ source, actions, allowance: () => read() })} />
    );
    render(<Page />);
    const wire = new Wire();
    for (const envelope of [wire.started(), wire.user('hi'), wire.stepDone(1), wire.limit()])
      sink().envelope(envelope);
    if (button === null) await screen.findByText(/ask an operator for more/);
    else await screen.findByRole('button', { name: button });
    expect(screen.queryAllByRole('button', { name: /Continue with/ })).toHaveLength(button ? 1 : 0);
    expect(read).toHaveBeenCalledOnce();
  });

  it('retries a parked session once', async () => {
    const { source, sink } = fakeSource();
    const retry = vi.fn(async () => {});
    const actions = { retry, resume: async () => {} };
    const Page = (): ReactElement => <AgentChat session={useAgentSession({ source, actions })} />;
    render(<Page />);
    const wire = new Wire();
    const explanation = {
      headline: 'Failed because the work on this conversation was given up after 5 failed tries.',
      detail: '',
      decided_by: 'SessionRuntime',
      stop_reason: 'error',
      actions: [{ kind: 'retry', text: 'To continue, retry it.' }],
    } as const;
    for (const envelope of [wire.started(), wire.user('hi'), wire.ends('failed', { explanation })])
      sink().envelope(envelope);
    const button = await screen.findByRole('button', { name: 'Retry' });
    await userEvent.click(button);
    await userEvent.click(button);
    expect(retry).toHaveBeenCalledExactlyOnceWith();
    await screen.findByRole('button', { name: 'Continuing…' });
  });

  it('hides a control without an action', () => {
    const { source } = fakeSource();
    const Page = (): ReactElement => <AgentChat session={useAgentSession({ source })} />;
    render(<Page />);
    expect(screen.queryByRole('textbox')).toBeNull();
  });
});

it('UsageView shows steps and tokens, and nothing before the first step', async () => {
  const { container, rerender } = render(
    <UsageView usage={{ input: 0, output: 0, total: 0 }} stepCount={0} />,
  );
  expect(container.textContent).toBe('');
  rerender(<UsageView usage={{ input: 1_000, output: 234, total: 1_234 }} stepCount={2} />);
  expect(container.textContent).toBe('2 steps1,234 tokens1,000 in, 234 out');
});
