// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ChatView } from '../../src/console/chat/chat-view.tsx';
import type { ChatViewProps } from '../../src/console/contract.ts';
import { sessionOf } from './chat-fixtures.ts';
import { scenes } from './chat-scenes.ts';
import { rows, action, refused, withActions } from './chat-setup.ts';

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

describe('approvals', () => {
  const card = (): HTMLElement => document.querySelector<HTMLElement>('.onward-approval')!;
  const shown = (props: ChatViewProps = scenes.approval()) => {
    const asked: unknown[][] = [];
    const session = sessionOf(props.session.state, { actions: props.session.actions }, asked);
    const result = render(<ChatView {...props} session={session} />);
    return { asked, ...result };
  };

  it('show a question, the arguments, and what has run', () => {
    shown();
    expect(screen.getByRole('heading', { level: 3 }).textContent).toBe('Delete lead_1874?');
    expect(card().querySelector('.onward-approval-hint')?.textContent).toBe(
      'delete_program_lead runs only if you approve it. It has not run yet; the other call of this step has finished and will not run again.',
    );
    expect([...card().querySelectorAll('dd')].map(({ textContent }) => textContent)).toEqual([
      'lead_1874',
      'inactive since 2024-11-02',
      'true',
    ]);
    expect(card().textContent).not.toContain('1 of 1');
    expect(rows().at(-1)).toContain('needs approval');
    expect(
      screen.getByPlaceholderText<HTMLTextAreaElement>('Answer the approval first').disabled,
    ).toBe(true);
  });

  it('share a table if they are many, and a nested one names its agent', async () => {
    const { asked } = shown(scenes.approvals());
    expect(screen.getByRole('heading', { level: 3 }).textContent).toBe(
      'Allow 3 delete_program_lead calls?',
    );
    expect(screen.getAllByRole('row').map(({ textContent }) => textContent)).toEqual([
      'agentid',
      'lead_1874Edit',
      'cleanerlead_1875Edit',
      'lead_1876Edit',
    ]);
    expect(screen.getByPlaceholderText('Answer the 3 approvals first')).toBeTruthy();
    await userEvent.click(screen.getByRole('checkbox', { name: 'Select lead_1875' }));
    await userEvent.click(card().querySelector('[data-key="approve"]')!);
    expect(asked).toEqual([['approveAll', ['d0', 'd2']]]);
  });

  it('have buttons for the keys of the page', async () => {
    const { asked } = shown();
    const keys = [...card().querySelectorAll('[data-key]')].map((one) =>
      one.getAttribute('data-key'),
    );
    expect(keys).toEqual(['approve', 'edit', 'deny']);
    await userEvent.click(card().querySelector('[data-key="approve"]')!);
    expect(asked).toEqual([['approve', 'd0']]);
  });

  it('are edited in typed fields, and show the changes', async () => {
    const { asked } = shown(scenes.approvals());
    await userEvent.click(within(card()).getByRole('button', { name: 'Edit lead_1874' }));
    expect(document.activeElement).toBe(within(card()).getByLabelText('id'));
    await userEvent.selectOptions(within(card()).getByLabelText('notify_owner'), 'false');
    expect(card().querySelector('.onward-argument-fields > .onward-note')?.textContent).toContain(
      '1 change: notify_owner true → false. Checked against the tool’s schema again before it runs.',
    );
    const weight = within(card()).getByLabelText('weight');
    await userEvent.clear(weight);
    await userEvent.type(weight, 'two');
    await userEvent.click(within(card()).getByRole('button', { name: 'Approve with changes' }));
    expect(asked).toEqual([]);
    expect(screen.getByRole('alert').textContent).toBe('This is not a number.');
    expect(document.activeElement).toBe(weight);
    await userEvent.clear(weight);
    await userEvent.type(weight, '2.5');
    const nested = within(card()).getByLabelText('retention');
    fireEvent.change(nested, { target: { value: '{"days": 7}' } });
    fireEvent.keyDown(nested, { key: 'Enter', ctrlKey: true });
    expect(asked).toEqual([
      [
        'approve',
        'd0',
        {
          id: 'lead_1874',
          reason: 'inactive since 2024-11-02',
          notify_owner: false,
          retention: { days: 7 },
          weight: 2.5,
        },
      ],
    ]);
  });

  it('are approved unchanged if an edit has no change', async () => {
    const { asked } = shown();
    await userEvent.click(card().querySelector('[data-key="edit"]')!);
    await userEvent.click(within(card()).getByRole('button', { name: 'Approve' }));
    expect(asked).toEqual([['approve', 'd0']]);
  });

  it('close the form on Escape and restore the focus', async () => {
    shown();
    await userEvent.click(card().querySelector('[data-key="edit"]')!);
    await userEvent.keyboard('{Escape}');
    expect(card().querySelector('.onward-editor')).toBeNull();
    await waitFor(() => expect(document.activeElement?.getAttribute('data-key')).toBe('edit'));
  });

  it('show an error of the server and keep the input', async () => {
    const props = scenes.approval();
    const { rerender } = render(<ChatView {...props} />);
    await userEvent.click(card().querySelector('[data-key="edit"]')!);
    const id = within(card()).getByLabelText<HTMLInputElement>('id');
    await userEvent.type(id, 'x');
    rerender(<ChatView {...withActions(props, action({}))} />);
    expect(within(card()).getByRole('button', { name: 'Sending…' })).toBeTruthy();
    const error = refused('id: must match ^lead_', 'invalid_approval');
    rerender(<ChatView {...withActions(props, action({ status: 'failed', error }))} />);
    expect(within(card()).getByRole('alert').textContent).toBe('id: must match ^lead_');
    expect(within(card()).getByLabelText<HTMLInputElement>('id').value).toBe('lead_1874x');
  });

  it('explain that another answer was first', () => {
    const error = refused('Call d0 was answered before', 'conflict');
    render(<ChatView {...withActions(scenes.approval(), action({ status: 'failed', error }))} />);
    expect(within(card()).getByRole('alert').textContent).toBe(
      'Already answered, in another tab or by another person. Your answer was not used.',
    );
  });

  it('show a status after an answer until the run continues', () => {
    render(<ChatView {...withActions(scenes.approval(), action({ status: 'done' }))} />);
    expect(within(card()).getByRole('status').textContent).toBe(
      'Approved. The run continues in a moment.',
    );
    expect(card().querySelector('button')).toBeNull();
  });

  it('require a reason for a denial', async () => {
    const { asked } = shown();
    await userEvent.click(card().querySelector('[data-key="deny"]')!);
    await userEvent.keyboard('{Enter}');
    expect(asked).toEqual([]);
    await userEvent.keyboard('still in negotiation{Enter}');
    expect(asked).toEqual([['deny', 'd0', 'still in negotiation']]);
  });
});
