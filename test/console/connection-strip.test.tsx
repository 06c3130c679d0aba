// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { ConnectionStrip, type ConnectionStripProps } from '../../src/console/connection-strip.tsx';
import { SourceError } from '../../src/ui/sources/source-error.ts';

afterEach(cleanup);

const show = (error: Error | null, connection = 'offline'): void => {
  const session = { connection, error, messages: [{}] };
  const active = { session, status: 'processing', problem: null } as never as NonNullable<
    ConnectionStripProps['active']
  >;
  render(<ConnectionStrip active={active} isOnline onRetry={() => {}} />);
};

describe('ConnectionStrip', () => {
  it('shows that it reconnects and why the connection was lost', async () => {
    show(new SourceError('unreachable', 'GET /events answered 502, expected 200.'));
    const strip = await screen.findByRole('alert', {}, { timeout: 5_000 });
    expect(strip.textContent).toContain('The run continues on the server. Reconnecting.');
    expect(strip.querySelector('details')?.textContent).toContain('answered 502');
  });

  it('shows no reconnect after a final error', async () => {
    show(new SourceError('refused', 'GET /events answered 401: sign in again.'));
    const strip = await screen.findByRole('alert', {}, { timeout: 5_000 });
    expect(strip.textContent).toContain('answered 401: sign in again.');
    expect(strip.textContent).not.toContain('Reconnecting');
    expect(screen.getByRole('button', { name: 'Retry now' })).toBeTruthy();
  });
});
