// @vitest-environment happy-dom
import { act, cleanup, configure, render, screen, waitFor, within } from '@testing-library/react';
import { userEvent as events } from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { App } from '../../src/console/app.tsx';
import type { Trace } from '../../src/trace/trace.ts';
import { seriousInDocument } from '../setup/axe-dom.ts';
import { Wire } from '../react/fake-source.ts';
import { ShellServer, agentInfo, summary } from './shell-server.ts';
import { traceWith } from './trace-builder.ts';
import { designRun, familyTrace, nestedTrace } from './trace-fixtures.ts';

configure({ asyncUtilTimeout: 10_000 });
vi.setConfig({ testTimeout: 30_000 });
/** Types without a delay between keys. */
const userEvent = events.setup({ delay: null });
let server: ShellServer;
const designTrace = (sessionId: string): Trace => ({ ...traceWith(designRun), sessionId });

beforeEach(() => {
  server = new ShellServer();
  vi.stubGlobal('fetch', server.fetch);
  localStorage.clear();
  localStorage.setItem('onward-token', 'tok');
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const open = (hash: string): void => {
  const { happyDOM } = window as unknown as { happyDOM: { setURL: (url: string) => void } };
  happyDOM.setURL(`http://127.0.0.1:4111/${hash}`);
  render(<App />);
};
const visit = (hash: string): void =>
  act(() => {
    location.hash = hash;
    dispatchEvent(new Event('hashchange'));
  });
const heading = (name: string | RegExp): Promise<HTMLElement> =>
  screen.findByRole('heading', { level: 1, name });
const press = async (keys: string): Promise<void> => {
  (document.activeElement as HTMLElement | null)?.blur();
  await userEvent.keyboard(keys);
};

describe('signing in', () => {
  it('removes the token from the URL, stores it and sends it', async () => {
    localStorage.clear();
    open('#token=tok');
    await screen.findByRole('heading', { name: 'Partner assistant' });
    expect(location.hash).toBe('');
    expect(localStorage.getItem('onward-token')).toBe('tok');
  });

  it('asks for a token if the stored one is refused, and accepts a pasted URL', async () => {
    localStorage.setItem('onward-token', 'old');
    server.sessions = [summary('s1')];
    open('#/s/s1');
    const field = await screen.findByLabelText('Token or address');
    expect(screen.getByText(/no longer accepts this token/)).toBeTruthy();
    expect(await seriousInDocument()).toEqual([]);
    await userEvent.type(field, 'http://127.0.0.1:4111/#token=tok');
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    await heading('Title of s1');
    expect(document.body.innerHTML).not.toContain('tok"');
  });
});

describe('a new session', () => {
  it('is created with its first message and opens at its URL', async () => {
    open('#/new');
    await screen.findByText(/demo model/, { selector: 'b' });
    expect(server.count('POST', '/sessions')).toBe(0);
    await userEvent.type(screen.getByLabelText('Message'), 'Hello there{Enter}');
    await heading('Hello there');
    expect(location.hash).toBe('#/s/made_0');
    expect(server.asked.find(({ method }) => method === 'POST')?.body).toEqual({
      agent: 'partner-assistant',
      message: 'Hello there',
    });
    expect(server.count('POST', '/sessions')).toBe(1);
  });

  it('starts with a suggestion', async () => {
    open('#/');
    await userEvent.click(await screen.findByRole('button', { name: 'Which programs renew?' }));
    await heading('Which programs renew?');
  });

  it('keeps an unsent message in the field, with the error of the server', async () => {
    server.refusals.set('POST /sessions', {
      status: 429,
      code: 'rate_limited',
      message: 'Wait 20 seconds.',
    });
    open('#/new');
    const field = await screen.findByLabelText<HTMLTextAreaElement>('Message');
    await userEvent.type(field, 'Hello there{Enter}');
    await screen.findByText(/Wait 20 seconds/);
    await waitFor(() => expect(field.value).toBe('Hello there'));
    expect(location.hash).toBe('#/new');
    server.refusals.clear();
    await userEvent.type(field, '{Enter}');
    await heading('Hello there');
  });

  it('uses the selected agent', async () => {
    const agents = [agentInfo('one', 'First'), agentInfo('two', 'Second')];
    server.info = { ...server.info, agents };
    open('#/new');
    await userEvent.click(await screen.findByRole('button', { name: 'Second' }));
    expect(screen.getByRole('heading', { name: 'Second' })).toBeTruthy();
    await userEvent.type(screen.getByLabelText('Message'), 'Hi{Enter}');
    await heading('Hi');
    expect(server.asked.find(({ method }) => method === 'POST')?.body['agent']).toBe('two');
  });
});

describe('a session', () => {
  it('shows title, status and messages live', async () => {
    server.sessions = [summary('s1', { status: 'processing', reason: 'Working · step 1' })];
    open('#/s/s1');
    await heading('Title of s1');
    const wire = new Wire('exe_1', 's1');
    await waitFor(() => expect(server.count('GET', '/sessions/s1/events')).toBe(1));
    server.say('s1', wire.started(), wire.user('Hi'), wire.says('Good morning'));
    await screen.findByText('Good morning');
    const row = screen.getByRole('link', { name: /Title of s1/ });
    expect(row.dataset['status']).toBe('processing');
    server.sessions = [summary('s1', { status: 'stopped', reason: 'Step limit · 5 / 5' })];
    server.say('s1', wire.limit());
    await screen.findByText('Stopped · step limit', { selector: '.pill' });
    await waitFor(() => expect(row.textContent).toContain('Step limit · 5 / 5'));
    expect(document.title).toBe('Stopped · step limit · Title of s1 · Onward');
    expect(await seriousInDocument()).toEqual([]);
  });

  it('is not found if it belongs to another owner', async () => {
    open('#/s/foreign');
    await screen.findByRole('heading', { name: 'Session not found', level: 2 });
    expect(screen.getByText('session_not_found')).toBeTruthy();
    expect(screen.getAllByRole('link', { name: 'All sessions' }).length).toBeGreaterThan(0);
  });

  it('has a trace before its first step', async () => {
    server.sessions = [summary('s1', { status: 'idle', reason: 'New' })];
    open('#/s/s1/trace');
    await screen.findByRole('heading', { name: 'No steps yet' });
  });

  it('is deleted after a confirmation', async () => {
    server.sessions = [summary('s1'), summary('s2')];
    open('#/s/s1');
    await heading('Title of s1');
    await userEvent.click(screen.getByRole('button', { name: 'About this session' }));
    await userEvent.click(screen.getByRole('button', { name: 'Delete session…' }));
    await userEvent.click(screen.getByRole('button', { name: 'Keep' }));
    await userEvent.click(screen.getByRole('button', { name: 'Delete session…' }));
    expect(server.count('DELETE', '/sessions/s1')).toBe(0);
    await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
    await heading('New session');
    await waitFor(() => expect(screen.queryByText('Title of s1')).toBeNull());
    expect(screen.getByText('Title of s2')).toBeTruthy();
  });
});

describe('a server that does not respond', () => {
  it('is reported and can be retried', async () => {
    server.isDown = true;
    open('#/');
    await screen.findByRole('heading', { name: 'The server does not respond' });
    server.isDown = false;
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await screen.findByRole('heading', { name: 'Partner assistant' });
  });
});

describe('a grant', () => {
  const stopped = async (): Promise<Wire> => {
    server.sessions = [summary('s1', { status: 'stopped', reason: 'Step limit · 5 / 5' })];
    server.traces.set('s1', designTrace('s1'));
    const wire = new Wire('exe_1', 's1');
    server.say('s1', wire.started(), wire.user('Hi'), wire.limit());
    open('#/s/s1/trace');
    await screen.findByText('Continue with 5 more steps');
    return wire;
  };

  it('shows what was granted', async () => {
    await stopped();
    await userEvent.click(screen.getByText('Continue with 5 more steps'));
    await screen.findByText(/^You allowed 5 more steps · \d\d:\d\d$/);
    expect(server.asked.find(({ path }) => path === '/sessions/s1/resume')?.body).toEqual({
      grant: { steps: 5 },
    });
  });

  it('shows that another tab was first', async () => {
    await stopped();
    server.refusals.set('POST /sessions/s1/resume', {
      status: 409,
      code: 'conflict',
      message: 'Session "s1" is busy.',
    });
    await userEvent.click(screen.getByText('Continue with 5 more steps'));
    await screen.findByText('Already allowed in another tab.');
  });
});

describe('pages', () => {
  it('are in the rail, have an address, a title and a key, and are loaded when opened', async () => {
    server.sessions = [summary('s1')];
    open('#/');
    await screen.findByRole('heading', { name: 'Partner assistant' });
    const rail = within(screen.getByRole('navigation', { name: 'Console' }));
    expect(rail.getByRole('link', { name: 'Sessions' }).getAttribute('href')).toBe('#/sessions');
    await press('gs');
    expect(location.hash).toBe('#/sessions');
    visit('#/sessions');
    expect(document.activeElement).toBe(await heading('Sessions'));
    await screen.findByRole('link', { name: 'Title of s1' });
    expect(rail.getByRole('link', { current: 'page' }).textContent).toBe('Sessions');
    expect(document.title).toBe('Sessions · Onward');
    expect(await seriousInDocument()).toEqual([]);
  });

  it('have an entry in the rail each, in order, but for those that others open', () => {
    open('#/sessions');
    const rail = within(screen.getByRole('navigation', { name: 'Console' }));
    expect(rail.getAllByRole('link').map(({ textContent }) => textContent)).toEqual([
      '', // the sign, which leads to the first page
      'Overview',
      'Sessions',
      'Evals',
      'What if',
      'Workers',
    ]);
  });
});

describe('keys', () => {
  it('switch views and focus the search, but not while the user types', async () => {
    server.sessions = [summary('s1')];
    open('#/s/s1');
    await heading('Title of s1');
    await press('t');
    expect(location.hash).toBe('#/s/s1/trace');
    visit('#/s/s1/trace');
    await press('c');
    expect(location.hash).toBe('#/s/s1');
    await press('/');
    const search = screen.getByLabelText('Search sessions');
    expect(document.activeElement).toBe(search);
    await userEvent.keyboard('nt?');
    expect((search as HTMLInputElement).value).toBe('nt?');
    expect(location.hash).toBe('#/s/s1');
    await press('{Control>}n{/Control}');
    expect(location.hash).toBe('#/s/s1');
    await press('n');
    expect(location.hash).toBe('#/new');
    await press('?');
    expect(screen.getByRole('heading', { name: 'Keyboard shortcuts' })).toBeTruthy();
    await userEvent.keyboard('n');
    await userEvent.click(screen.getByRole('button', { name: 'Close' }));
    expect(screen.queryByRole('heading', { name: 'Keyboard shortcuts' })).toBeNull();
  });

  it('work again after Escape in the message field', async () => {
    server.sessions = [summary('s1')];
    open('#/s/s1');
    await heading('Title of s1');
    const field = screen.getByRole('textbox', { name: 'Message' });
    await userEvent.type(field, 'at');
    expect(location.hash).toBe('#/s/s1');
    await userEvent.keyboard('{Escape}t');
    expect(location.hash).toBe('#/s/s1/trace');
    expect((field as HTMLTextAreaElement).value).toBe('at');
  });

  it('focus the grant button with G G without granting', async () => {
    server.sessions = [summary('s1', { status: 'stopped' })];
    server.traces.set('s1', designTrace('s1'));
    open('#/s/s1/trace');
    const button = (await screen.findByText('Continue with 5 more steps')).closest('button');
    await press('g');
    expect(document.activeElement).not.toBe(button);
    await press('gg');
    expect(document.activeElement).toBe(button);
    expect(server.count('POST', '/sessions/s1/resume')).toBe(0);
  });

  it('hide and show the list with [', async () => {
    open('#/');
    await screen.findByRole('heading', { name: 'Partner assistant' });
    const frame = document.querySelector<HTMLElement>('.frame');
    await press('[[');
    expect(frame?.dataset['list']).toBe('hidden');
    await press('[[');
    expect(frame?.dataset['list']).toBe('shown');
  });
});

it('focuses the heading of a new page and announces only status changes', async () => {
  server.sessions = [summary('s1', { status: 'processing' }), summary('s2')];
  open('#/s/s2');
  await heading('Title of s2');
  visit('#/s/s1');
  expect(document.activeElement).toBe(await heading('Title of s1'));
  const region = document.querySelector('.frame > [aria-live="polite"]');
  expect(region?.textContent).toBe('');
  const wire = new Wire('exe_1', 's1');
  await waitFor(() => expect(server.count('GET', '/sessions/s1/events')).toBe(1));
  server.say('s1', wire.started(), wire.says('An answer'));
  await screen.findByText('An answer');
  expect(region?.textContent).toBe('');
  server.say('s1', wire.limit());
  await waitFor(() => expect(region?.textContent).toContain('Stopped · step limit.'));
});

it('uses the system theme until the user selects one', async () => {
  open('#/');
  await screen.findByRole('heading', { name: 'Partner assistant' });
  expect(document.documentElement.dataset['theme']).toBe('light');
  await userEvent.click(screen.getByRole('button', { name: 'Dark theme' }));
  expect(document.documentElement.dataset['theme']).toBe('dark');
  expect(localStorage.getItem('onward-theme')).toBe('dark');
  await userEvent.click(screen.getByRole('button', { name: 'Light theme' }));
  expect(localStorage.getItem('onward-theme')).toBeNull();
});

it('shows in the session info that a script answers, not a model', async () => {
  server.sessions = [summary('s1')];
  open('#/s/s1');
  await heading('Title of s1');
  await userEvent.click(screen.getByRole('button', { name: 'About this session' }));
  const dialog = within(screen.getByRole('dialog'));
  expect(dialog.getByText('a script, not a model')).toBeTruthy();
  expect(dialog.getByText('needs approval')).toBeTruthy();
  expect(dialog.getByText('SQLite · .onward/sessions.db')).toBeTruthy();
  expect(await seriousInDocument()).toEqual([]);
});

describe('an agent behind a call', () => {
  const clerk = (): Trace => ({ ...nestedTrace(), sessionId: 's1', agent: 'clerk' });
  beforeEach(() => {
    server.sessions = [summary('s1')];
    server.traces.set('s1', { ...familyTrace(), sessionId: 's1' });
    server.traces.set('s1/call_3', clerk());
    server.traces.set('s1/call_1', { ...clerk(), agent: 'researcher' });
  });

  it('is read when it is opened, has an address, and Esc goes up one agent at a time', async () => {
    open('#/s/s1/trace');
    await userEvent.click(await screen.findByRole('button', { name: 'Open trace of clerk' }));
    expect(location.hash).toBe('#/s/s1/trace?execution=exec_1&call=call_3&in=1');
    const above = await screen.findByRole('navigation', { name: 'Agents above' });
    // effects run after the line is there
    await waitFor(() => expect(document.activeElement?.textContent).toBe('clerk'));
    expect(await seriousInDocument()).toEqual([]);
    const asked = server.asked.filter(({ search }) => search.get('call') !== null);
    expect(asked.map(({ search }) => search.toString())).toContain(
      'execution=exec_1&call=call_3&step=1',
    );
    expect(within(above).getAllByRole('button')).toHaveLength(2);
    await press('{Escape}');
    expect(location.hash).toBe('#/s/s1/trace/12?execution=exec_1&call=call_1&in=1');
    await waitFor(() => expect(document.activeElement?.textContent).toBe('researcher'));
  });

  it('shows why it cannot be read, with a way back', async () => {
    open('#/s/s1/trace?execution=exec_1&call=gone&in=2');
    await screen.findByText('No agent behind this call.');
    await userEvent.click(screen.getByRole('link', { name: 'Back to the run' }));
    expect(location.hash).toBe('#/s/s1/trace/2?execution=exec_1');
  });
});
