// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ChatView } from '../../src/console/chat/chat-view.tsx';
import { ForkBadge } from '../../src/console/chat/fork-badge.tsx';
import { Markdown } from '../../src/console/chat/markdown.tsx';
import { RememberedRules } from '../../src/console/chat/remembered-rules.tsx';
import { eventRow } from '../../src/ui/event-row.ts';
import { seriousInDocument } from '../setup/axe-dom.ts';
import { chatProps, detailOf, message, sessionOf, stateAfter, wireAt } from './chat-fixtures.ts';
import { liveProps, rows } from './chat-setup.ts';

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const step = (id: string, content: string) =>
  message(id, 'assistant', content, { metadata: { step: 1, execution_id: 'exe_0' } });

describe('a fork', () => {
  const at = '2026-01-16T14:16:00.000Z';
  const fork = eventRow({
    id: 'fork:ses_0:2',
    timestamp: at,
    event: { kind: 'fork', session_id: 'ses_0', step: 2 },
  });
  const state = stateAfter(
    [],
    [message('u1', 'user', 'Question'), step('a1', 'One.'), step('a2', 'Two.'), fork],
  );
  const detail = detailOf({ status: 'paused', pause: { kind: 'fork', at } });

  it('folds what it has copied, names its origin, and takes a message', async () => {
    const asked: unknown[][] = [];
    render(<ChatView {...chatProps(sessionOf(state, {}, asked), { detail })} />);
    expect(screen.queryByText('One.')).toBeNull();
    expect(document.querySelector('.event-words')?.textContent).toBe(
      'Forked from another session after step 2. Open the original',
    );
    expect(screen.getByRole('link', { name: 'Open the original' }).getAttribute('href')).toBe(
      '#/s/ses_0',
    );
    await userEvent.type(screen.getByPlaceholderText('Send a message'), 'go{Enter}');
    expect(asked).toEqual([['send', 'go']]);
    await userEvent.click(screen.getByRole('button', { name: '2 steps from the original run' }));
    expect(screen.getByText('One.')).toBeTruthy();
  });

  it('is marked, and discarded after one question', async () => {
    const onDiscard = vi.fn(async () => 'The session is busy.');
    render(<ForkBadge origin={{ sessionId: 'ses_0', step: 2, at }} onDiscard={onDiscard} />);
    expect(screen.getByRole('link').textContent).toBe('Fork after step 2');
    await userEvent.click(screen.getByRole('button', { name: 'Discard fork' }));
    expect(onDiscard).not.toHaveBeenCalled();
    await userEvent.click(screen.getByRole('button', { name: 'Discard' }));
    expect((await screen.findByRole('alert')).textContent).toBe('The session is busy.');
    await userEvent.click(screen.getByRole('button', { name: 'Keep' }));
    expect(screen.getByRole('button', { name: 'Discard fork' })).toBeTruthy();
    expect(await seriousInDocument()).toEqual([]);
  });
});

describe('a call that the model writes', () => {
  it('has its name at once, its text as it arrives, and the one before it runs next', () => {
    const wire = wireAt();
    const delta = (id: string, tool: string, args_delta: string) =>
      wire.make('agent.tool.delta', { tool_call_id: id, tool, args_delta, offset: 0 });
    render(
      <ChatView
        {...liveProps([
          wire.started(),
          wire.user('x'),
          wire.step(1),
          delta('a', 'update_lead', '{"id":"lead_1921"}'),
          delta('b', 'update_lead', '{"id":"lead_18'),
        ])}
      />,
    );
    expect(rows()).toEqual([
      'update_lead | lead_1921 | runs next | ',
      'update_lead | writing arguments… |  | ',
    ]);
    expect(document.querySelector('.call-writing')?.textContent).toBe('{"id":"lead_18');
  });
});

describe('code in a message', () => {
  it('gets its colors when it is complete, and is copied as it is', async () => {
    const text = '```ts\nconst a = 1;\n```';
    const { rerender } = render(<Markdown text={text} isStreaming end={<i />} />);
    expect(document.querySelector('[data-token]')).toBeNull();
    rerender(<Markdown text={`${text}\n\nDone.`} />);
    await waitFor(() =>
      expect(document.querySelector('[data-token="keyword"]')?.textContent).toBe('const'),
    );
    const writeText = vi.fn(async () => undefined);
    Object.defineProperty(navigator, 'clipboard', { value: { writeText }, configurable: true });
    fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
    expect(writeText).toHaveBeenCalledExactlyOnceWith('const a = 1;');
    expect(await screen.findByRole('button', { name: 'Copied' })).toBeTruthy();
  });
});

describe('a long message', () => {
  it('is folded, and opens', async () => {
    const long = 'word '.repeat(2_000);
    const state = stateAfter([], [message('u', 'user', 'Hi'), message('a', 'assistant', long)]);
    render(<ChatView {...chatProps(sessionOf(state))} />);
    await userEvent.click(screen.getByRole('button', { name: 'Show all 10,000 characters' }));
    expect(document.querySelector('.folded')).toBeNull();
  });
});

describe('while a conversation loads', () => {
  it('shows its shape after a moment', () => {
    vi.useFakeTimers();
    const session = { ...sessionOf(stateAfter([])), connection: 'connecting' } as const;
    render(<ChatView {...chatProps(session, { detail: null })} />);
    expect(screen.queryByRole('status', { name: 'Loading the conversation' })).toBeNull();
    vi.useRealTimers();
  });
});

describe('remembered approvals', () => {
  it('are listed and revoked', async () => {
    const rule = { id: 'r1', tool: 'delete_lead', agentPath: ['shop', 'clean', 'cleaner'] };
    const load = async () => [rule];
    const revoke = vi.fn(async () => []);
    render(<RememberedRules load={load} revoke={revoke} />);
    expect((await screen.findByRole('listitem')).textContent).toContain(
      'delete_lead shop › clean › cleaner',
    );
    await userEvent.click(screen.getByRole('button', { name: 'Ask again for delete_lead' }));
    expect(revoke).toHaveBeenCalledExactlyOnceWith('r1');
    await waitFor(() => expect(screen.queryByRole('listitem')).toBeNull());
  });
});

describe('attachments in the composer', () => {
  it('are chosen or pasted, shown, removed and sent', async () => {
    const asked: unknown[][] = [];
    const state = stateAfter([], [message('u', 'user', 'Hi'), message('a', 'assistant', 'Hello')]);
    render(<ChatView {...chatProps(sessionOf(state, {}, asked))} maxAttachmentBytes={10} />);
    const pdf = new File(['abc'], 'a.pdf', { type: 'application/pdf' });
    await userEvent.upload(screen.getByLabelText('Attach images or files', { selector: 'input' }), [
      pdf,
      new File(['x'.repeat(20)], 'b.txt', { type: 'text/plain' }),
    ]);
    expect((await screen.findByRole('alert')).textContent).toBe(
      'b.txt is too large (20 bytes): all files of a message may have 10 bytes.',
    );
    const field = screen.getByRole('textbox');
    fireEvent.paste(field, {
      clipboardData: {
        files: [new File(['png'], 'p.png', { type: 'image/png' })],
        types: ['Files'],
      },
    });
    await screen.findByText('p.png');
    await userEvent.click(screen.getByRole('button', { name: 'Remove a.pdf' }));
    expect(await seriousInDocument()).toEqual([]);
    await userEvent.click(screen.getByRole('button', { name: 'Send' }));
    expect(asked).toEqual([
      [
        'send',
        '',
        [
          {
            type: 'image',
            data: 'cG5n',
            media_type: 'image/png',
            filename: 'p.png',
            bytes: 3,
          },
        ],
      ],
    ]);
    expect(screen.queryByText('p.png')).toBeNull();
  });

  it('are shown above the message: raster images only, all others as chips', () => {
    const files = [
      { type: 'image', media_type: 'image/png', data: 'cG5n', bytes: 3 },
      { type: 'file', media_type: 'image/svg+xml', filename: 'a.svg', data: 'PHN2Zz4=', bytes: 5 },
    ] as const;
    const state = stateAfter(
      [],
      [message('u', 'user', '[image] [file a.svg]', { metadata: { files } })],
    );
    render(<ChatView {...chatProps(sessionOf(state))} />);
    expect(document.querySelectorAll('.user img')).toHaveLength(1);
    expect(document.querySelector('.user .onward-file')?.textContent).toBe(
      'File "a.svg" (image/svg+xml, 5 bytes)',
    );
    expect(document.querySelector('.user-text')).toBeNull();
  });
});
