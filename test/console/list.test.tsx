// @vitest-environment happy-dom
import {
  act,
  cleanup,
  configure,
  fireEvent,
  render,
  screen,
  waitFor,
} from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { apiClient } from '../../src/console/api-client.ts';
import { Console } from '../../src/console/console.tsx';
import { ShellServer, summary } from './shell-server.ts';

configure({ asyncUtilTimeout: 10_000 });
vi.setConfig({ testTimeout: 30_000 });
let server: ShellServer;

beforeEach(() => {
  server = new ShellServer();
  vi.useFakeTimers({ shouldAdvanceTime: true });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const show = (): void => {
  const base = 'http://127.0.0.1:4111/api';
  render(<Console api={apiClient({ base, token: () => 'tok', fetch: server.fetch })} />);
};
const titles = (): string[] =>
  [...document.querySelectorAll('.row-title')].map(({ textContent }) => textContent);
const searches = (): (string | null)[] =>
  server.asked.filter(({ path }) => path === '/sessions').map(({ search }) => search.get('search'));
const type = (text: string): boolean =>
  fireEvent.change(screen.getByLabelText('Search sessions'), { target: { value: text } });
const pass = async (ms: number): Promise<void> => {
  await act(() => vi.advanceTimersByTimeAsync(ms));
};

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

describe('the list', () => {
  it('shows sessions that need approval first, with their reasons', async () => {
    server.sessions = [
      summary('s1', { title: 'Weekly summary' }),
      summary('s2', { title: 'Older', updatedAt: daysAgo(9) }),
      summary('s3', {
        title: 'Clean up',
        status: 'paused',
        reason: 'delete_lead needs approval',
        updatedAt: daysAgo(3),
      }),
    ];
    show();
    await screen.findByText('Clean up');
    expect(titles()).toEqual(['Clean up', 'Weekly summary', 'Older']);
    expect(
      [...document.querySelectorAll('.list-rows h2')].map(({ textContent }) => textContent),
    ).toEqual(['Needs you', 'Today', 'Earlier']);
    expect(screen.getByText('delete_lead needs approval')).toBeTruthy();
    expect(screen.getByText('3d')).toBeTruthy();
  });

  it('shows a parked session with its error and retries it', async () => {
    server.sessions = [
      summary('s1', { title: 'Weekly summary' }),
      summary('s2', {
        title: 'Invoices',
        status: 'failed',
        phase: 'parked',
        error: 'tenant was removed',
        parkedAt: daysAgo(1),
        tries: 5,
        reason: 'Gave up · tenant was removed',
      }),
    ];
    show();
    const row = (await screen.findByText('Invoices')).closest('li')!;
    expect(row.textContent).toContain('tenant was removed');
    expect(screen.getAllByText('Retry')).toHaveLength(1);
    const lists = searches().length;
    fireEvent.click(screen.getByLabelText('Retry Invoices'));
    await waitFor(() =>
      expect(server.asked.map(({ method, path }) => `${method} ${path}`)).toContain(
        'POST /sessions/s2/retry',
      ),
    );
    await waitFor(() => expect(searches().length).toBeGreaterThan(lists));
  });

  it('shows a hint if it is empty, and facts about the server', async () => {
    show();
    await screen.findByText(/^Sessions appear here/);
    const foot = document.querySelector('.list-foot')?.textContent;
    expect(foot).toContain('demo model');
    expect(foot).toContain('SQLite');
    expect(foot).not.toContain('sessions.db');
  });

  it('searches once after typing, and can be cleared', async () => {
    server.sessions = [summary('s1', { title: 'Alpine' }), summary('s2', { title: 'Baltic' })];
    show();
    await screen.findByText('Alpine');
    for (const text of ['b', 'ba', 'bal']) type(text);
    await pass(250);
    await waitFor(() => expect(titles()).toEqual(['Baltic']));
    expect(searches().filter(Boolean)).toEqual(['bal']);
    type('nothing like it');
    await pass(250);
    await screen.findByText('Nothing matches “nothing like it”');
    fireEvent.click(screen.getByText('Clear search'));
    await waitFor(() => expect(titles()).toEqual(['Alpine', 'Baltic']));
  });

  it('ignores the response of an older search', async () => {
    server.sessions = [summary('s1', { title: 'Alpine' }), summary('s2', { title: 'Baltic' })];
    const slow: (() => void)[] = [];
    const { fetch } = server;
    const held: typeof globalThis.fetch = async (input, init) => {
      const answer = await fetch(input, init);
      // a browser aborts the request; a late response must not matter either
      if (String(input).includes('search=alp'))
        await new Promise<void>((resolve) => slow.push(resolve));
      return answer;
    };
    render(
      <Console
        api={apiClient({ base: 'http://127.0.0.1/api', token: () => 'tok', fetch: held })}
      />,
    );
    await screen.findByText('Alpine');
    type('alp');
    await pass(250);
    type('bal');
    await pass(250);
    await waitFor(() => expect(titles()).toEqual(['Baltic']));
    await act(async () => slow.forEach((answer) => answer()));
    await pass(50);
    expect(titles()).toEqual(['Baltic']);
  });

  it('loads more pages', async () => {
    server.pageSize = 2;
    server.sessions = ['a', 'b', 'c', 'd', 'e'].map((id, index) =>
      summary(id, { updatedAt: new Date(Date.now() - index * 1000).toISOString() }),
    );
    show();
    await screen.findByText('Title of a');
    fireEvent.click(screen.getByText('Earlier sessions'));
    await screen.findByText('Title of d');
    fireEvent.click(screen.getByText('Earlier sessions'));
    await screen.findByText('Title of e');
    expect(screen.queryByText('Earlier sessions')).toBeNull();
    expect(titles()).toHaveLength(5);
  });

  it('is refreshed regularly and on focus', async () => {
    server.sessions = [summary('s1', { status: 'processing', reason: 'Working' })];
    show();
    await screen.findByText('Working');
    server.sessions = [summary('s1', { reason: 'Completed · 4 steps' })];
    await pass(3_100);
    await screen.findByText('Completed · 4 steps');
    server.sessions = [summary('s2'), ...server.sessions];
    act(() => void dispatchEvent(new Event('focus')));
    await screen.findByText('Title of s2');
  });
});
