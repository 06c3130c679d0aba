// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import { type ReactElement } from 'react';
import { afterEach, describe, expect, it } from 'vitest';
import { AgentChat, UsageView, useAgentSession } from '../../src/react/index.ts';
import { seriousInDocument } from '../setup/axe-dom.ts';
import { fakeSource, Wire } from './fake-source.ts';

afterEach(cleanup);

describe('AgentChat', () => {
  it('says everything in another language, and lets parts be replaced', async () => {
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
    // the stop is said once, not in a line of the conversation too
    expect(document.body.textContent).not.toContain('Stopped at the step limit');
    expect(await seriousInDocument()).toEqual([]);
  });

  it('without an action its control is not there', () => {
    const { source } = fakeSource();
    const Page = (): ReactElement => <AgentChat session={useAgentSession({ source })} />;
    render(<Page />);
    expect(screen.queryByRole('textbox')).toBeNull();
  });
});

it('UsageView says steps and tokens, and nothing before there are any', async () => {
  const { container, rerender } = render(
    <UsageView usage={{ input: 0, output: 0, total: 0 }} stepCount={0} />,
  );
  expect(container.textContent).toBe('');
  rerender(<UsageView usage={{ input: 1_000, output: 234, total: 1_234 }} stepCount={2} />);
  expect(container.textContent).toBe('2 steps1,234 tokens1,000 in, 234 out');
});
