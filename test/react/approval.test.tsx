// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { useState, type ReactElement } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApprovalView, ApprovalList } from '../../src/react/index.ts';
import type { SessionAction } from '../../src/ui/sources/session-actions.ts';
import type { UiApproval } from '../../src/ui/ui-state.ts';
import { seriousInDocument } from '../setup/axe-dom.ts';
import { approval, failed } from './component-fixtures.ts';

afterEach(cleanup);

describe('ApprovalView', () => {
  const view = (props: Partial<Parameters<typeof ApprovalView>[0]> = {}) => {
    const onApprove = vi.fn();
    const onDeny = vi.fn();
    render(
      <ApprovalView
        approval={approval}
        action={null}
        onApprove={onApprove}
        onDeny={onDeny}
        {...props}
      />,
    );
    return { onApprove, onDeny };
  };

  it('shows the arguments and is approved by keyboard, with Approve first', async () => {
    const { onApprove } = view();
    expect(screen.getByRole('region', { name: 'Run delete_lead?' })).toBeTruthy();
    expect(screen.getByText('lead_7')).toBeTruthy();
    expect(await seriousInDocument()).toEqual([]);
    await userEvent.tab();
    expect(document.activeElement?.textContent).toBe('Approve');
    await userEvent.keyboard('{Enter}');
    expect(onApprove).toHaveBeenCalledExactlyOnceWith('call_1');
  });

  it('edits JSON, reports errors, accepts only an object, and closes on Escape', async () => {
    const { onApprove } = view();
    const edit = screen.getByRole('button', { name: 'Edit arguments' });
    await userEvent.click(edit);
    await userEvent.click(screen.getByRole('button', { name: 'Edit as JSON' }));
    const field = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Arguments as JSON' });
    expect(document.activeElement).toBe(field);
    expect(JSON.parse(field.value)).toEqual(approval.args);
    for (const [text, problem] of [
      ['{ "id": ', 'This is not JSON'],
      ['[1]', 'Arguments must be an object'],
      ['"x"', 'Arguments must be an object'],
      ['null', 'Arguments must be an object'],
    ] as const) {
      fireEvent.change(field, { target: { value: text } });
      expect(field.getAttribute('aria-invalid')).toBe('true');
      await userEvent.click(screen.getByRole('button', { name: 'Approve with changes' }));
      expect(screen.getByRole('alert').textContent).toContain(problem);
      expect(document.activeElement).toBe(field);
    }
    expect(await seriousInDocument()).toEqual([]);
    expect(onApprove).not.toHaveBeenCalled();
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Edit arguments'));
    await userEvent.keyboard('{Enter}');
    await userEvent.click(screen.getByRole('button', { name: 'Edit as JSON' }));
    fireEvent.change(screen.getByRole('textbox'), { target: { value: '{"id":"lead_8"}' } });
    await userEvent.click(screen.getByRole('button', { name: 'Approve with changes' }));
    expect(onApprove).toHaveBeenCalledExactlyOnceWith('call_1', { id: 'lead_8' });
  });

  it('edits typed fields, and keeps the input when switching to JSON and back', async () => {
    const { onApprove } = view();
    await userEvent.click(screen.getByRole('button', { name: 'Edit arguments' }));
    expect(document.activeElement).toBe(screen.getByLabelText('id'));
    expect(screen.getByText(/^No changes\./)).toBeTruthy();
    await userEvent.selectOptions(screen.getByLabelText('notify'), 'false');
    expect(screen.getByText(/^Changed: notify\./)).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: 'Edit as JSON' }));
    const field = screen.getByRole<HTMLTextAreaElement>('textbox');
    expect(JSON.parse(field.value)).toEqual({ id: 'lead_7', notify: false });
    const more = '{"id":"lead_7","notify":false,"weight":2}';
    fireEvent.change(field, { target: { value: more } });
    await userEvent.click(screen.getByRole('button', { name: 'Edit as fields' }));
    await userEvent.clear(screen.getByLabelText('weight'));
    await userEvent.click(screen.getByRole('button', { name: 'Approve with changes' }));
    expect(screen.getByRole('alert').textContent).toBe('This is not a number.');
    expect(document.activeElement).toBe(screen.getByLabelText('weight'));
    await userEvent.keyboard('3');
    fireEvent.keyDown(screen.getByLabelText('weight'), { key: 'Enter', ctrlKey: true });
    expect(onApprove).toHaveBeenCalledExactlyOnceWith('call_1', {
      id: 'lead_7',
      notify: false,
      weight: 3,
    });
    expect(await seriousInDocument()).toEqual([]);
  });

  it('edits empty arguments as JSON, and approves unchanged ones without arguments', async () => {
    const { onApprove } = view({ approval: { ...approval, args: {} } });
    await userEvent.click(screen.getByRole('button', { name: 'Edit arguments' }));
    expect(screen.getByLabelText('Arguments as JSON')).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: 'Approve' }));
    expect(onApprove).toHaveBeenCalledExactlyOnceWith('call_1');
  });

  it('keeps the input while the answer is sent and after the server refuses it', async () => {
    const onApprove = vi.fn();
    const props = { approval, onApprove };
    const sending = { ...failed('call_1'), status: 'pending', error: null } as const;
    const { rerender } = render(<ApprovalView {...props} action={null} />);
    await userEvent.click(screen.getByRole('button', { name: 'Edit arguments' }));
    await userEvent.type(screen.getByLabelText('id'), 'x');
    rerender(<ApprovalView {...props} action={sending} />);
    await userEvent.click(screen.getByRole('button', { name: 'Sending…' }));
    expect(onApprove).not.toHaveBeenCalled();
    rerender(<ApprovalView {...props} action={failed('call_1')} />);
    expect(screen.getByRole('alert').textContent).toContain('the server answered 503');
    expect(screen.getByLabelText<HTMLInputElement>('id').value).toBe('lead_7x');
  });

  it.each([
    ['conflict', /^Already answered/],
    ['stale_approval', /^A different call needs approval now/],
  ])('explains an answer that is too late: %s', (code, text) => {
    const error = Object.assign(new Error('no'), { code });
    view({ action: { ...failed('call_1'), error } });
    expect(screen.getByRole('alert').textContent).toMatch(text);
  });

  it('is denied with a reason, never without', async () => {
    const { onDeny } = view();
    const field = screen.getByRole('textbox', { name: 'Reason for denying' });
    await userEvent.click(screen.getByRole('button', { name: 'Deny' }));
    expect(document.activeElement).toBe(field);
    await userEvent.keyboard('   {Enter}');
    expect(onDeny).not.toHaveBeenCalled();
    expect(field.getAttribute('aria-invalid')).toBe('true');
    await userEvent.keyboard('wrong lead{Enter}');
    expect(onDeny).toHaveBeenCalledExactlyOnceWith('call_1', 'wrong lead');
  });

  it('is remembered for the session only if the user asks for it', async () => {
    const { onApprove } = view({ canRemember: true });
    const choice = screen.getByRole<HTMLInputElement>('checkbox', {
      name: 'Always allow delete_lead in this session',
    });
    expect(choice.checked).toBe(false);
    await userEvent.click(choice);
    await userEvent.click(screen.getByRole('button', { name: 'Approve' }));
    expect(onApprove).toHaveBeenCalledExactlyOnceWith('call_1', undefined, { remember: 'session' });
    cleanup();
    view();
    expect(screen.queryByRole('checkbox')).toBeNull();
  });

  it('shows a pending answer, and an error until it is dismissed', async () => {
    const onDismiss = vi.fn();
    const props = { approval, onApprove: vi.fn(), onDeny: vi.fn(), onDismiss };
    const { rerender } = render(
      <ApprovalView {...props} action={{ ...failed('call_1'), status: 'pending', error: null }} />,
    );
    expect(screen.getByRole('status').textContent).toBe('Sending…');
    expect(screen.queryByRole('button')).toBeNull();
    rerender(<ApprovalView {...props} action={failed('call_1')} />);
    expect(screen.getByRole('alert').textContent).toContain('the server answered 503');
    await userEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(onDismiss).toHaveBeenCalledWith('act_1');
    expect(screen.getByRole('button', { name: 'Approve' })).toBeTruthy();
  });

  it('does not edit truncated arguments', () => {
    view({ approval: { ...approval, args: { summary: '{"id":', ref: '1.args.x' } } });
    expect(screen.queryByRole('button', { name: 'Edit arguments' })).toBeNull();
    expect(screen.getByText('Only the beginning is shown.')).toBeTruthy();
  });

  it('moves the focus to the next approval, then to the given element', async () => {
    const second = { ...approval, tool: 'second', tool_call_id: 'call_2' };
    const Page = (): ReactElement => {
      const [left, setLeft] = useState<readonly UiApproval[]>([approval, second]);
      const [field, setField] = useState<HTMLInputElement | null>(null);
      const gone = (id: string): void =>
        setLeft((all) => all.filter(({ tool_call_id }) => tool_call_id !== id));
      return (
        <>
          <ApprovalList
            approvals={left}
            actions={[]}
            onApprove={gone}
            nextFocus={{ current: field }}
          />
          <input ref={setField} aria-label="next" />
        </>
      );
    };
    render(<Page />);
    await userEvent.click(
      within(screen.getByRole('region', { name: 'Run delete_lead?' })).getByText('Approve'),
    );
    expect(document.activeElement?.textContent).toBe('Run second?');
    await userEvent.tab();
    await userEvent.keyboard('{Enter}');
    expect(document.activeElement).toBe(screen.getByLabelText('next'));
  });

  it('keeps the focus when another client answers', () => {
    const { rerender } = render(
      <>
        <input aria-label="elsewhere" />
        <ApprovalList approvals={[approval]} actions={[]} />
      </>,
    );
    screen.getByLabelText('elsewhere').focus();
    rerender(
      <>
        <input aria-label="elsewhere" />
        <ApprovalList approvals={[]} actions={[]} />
      </>,
    );
    expect(document.activeElement).toBe(screen.getByLabelText('elsewhere'));
  });
});

describe('Approve all', () => {
  const list = (approvals: readonly UiApproval[], actions: readonly SessionAction[] = []) => {
    const onApproveAll = vi.fn();
    render(<ApprovalList approvals={approvals} actions={actions} onApproveAll={onApproveAll} />);
    return onApproveAll;
  };
  const two = [approval, { ...approval, tool_call_id: 'call_2' }];

  it('is offered for two or more calls', async () => {
    const onApproveAll = list(two);
    await userEvent.click(screen.getByRole('button', { name: 'Approve all 2' }));
    expect(onApproveAll).toHaveBeenCalledOnce();
    cleanup();
    list([approval]);
    expect(screen.queryByRole('button', { name: /^Approve all/ })).toBeNull();
  });

  it('shows that it is being sent, and why it failed', async () => {
    const action = { id: 'a', kind: 'approveAll', about: approval.execution_id } as const;
    const onApproveAll = list(two, [{ ...action, status: 'pending', error: null }]);
    await userEvent.click(screen.getByRole('button', { name: 'Sending…' }));
    expect(onApproveAll).not.toHaveBeenCalled();
    cleanup();
    list(two, [{ ...action, status: 'failed', error: new Error('stale') }]);
    expect(screen.getByRole('alert').textContent).toContain('stale');
  });
});

describe('three calls of one tool', () => {
  const calls = ['lead_7', 'lead_8', 'lead_9'].map((id, i) => ({
    ...approval,
    tool_call_id: `call_${i}`,
    args: { id, program: 'Alpine', notify: true },
  }));
  const table = (more: Partial<Parameters<typeof ApprovalList>[0]> = {}) => {
    const asked: unknown[][] = [];
    const ask =
      (name: string) =>
      (...args: readonly unknown[]) =>
        void asked.push([name, ...args]);
    render(
      <ApprovalList
        approvals={calls}
        actions={[]}
        onApprove={ask('approve')}
        onApproveAll={ask('approveAll')}
        onDeny={ask('deny')}
        onDenySome={ask('denySome')}
        canRemember
        {...more}
      />,
    );
    return asked;
  };

  it('share a table: a column for what differs, and once what is the same', async () => {
    table();
    expect(screen.getByRole('region', { name: 'Allow 3 delete_lead calls?' })).toBeTruthy();
    expect(screen.getAllByRole('columnheader').map(({ textContent }) => textContent)).toEqual([
      '',
      'id',
    ]);
    expect(screen.getByText(/^Same for all 3:/).textContent).toBe(
      'Same for all 3: program Alpine · notify true',
    );
    expect(await seriousInDocument()).toEqual([]);
  });

  it('are approved or denied as selected, and all at once', async () => {
    const asked = table();
    await userEvent.click(screen.getByRole('checkbox', { name: 'Select lead_8' }));
    await userEvent.click(screen.getByRole('button', { name: 'Approve 2 selected' }));
    await userEvent.type(screen.getByRole('textbox', { name: 'Reason for denying' }), 'not these');
    await userEvent.click(screen.getByRole('button', { name: 'Deny 2 selected' }));
    await userEvent.click(screen.getByRole('checkbox', { name: /^Always allow/ }));
    await userEvent.click(screen.getByRole('button', { name: 'Approve all 3' }));
    expect(asked).toEqual([
      ['approveAll', ['call_0', 'call_2']],
      ['denySome', ['call_0', 'call_2'], 'not these'],
      ['approveAll', ['call_0', 'call_1', 'call_2'], { remember: 'session' }],
    ]);
    await userEvent.click(screen.getByRole('checkbox', { name: 'Select all' }));
    await userEvent.click(screen.getByRole('checkbox', { name: 'Select all' }));
    expect(
      screen.getByRole('button', { name: 'Approve 0 selected' }).getAttribute('aria-disabled'),
    ).toBe('true');
  });

  it('are edited in their row, or reviewed one by one', async () => {
    const asked = table();
    await userEvent.click(screen.getByRole('button', { name: 'Edit lead_8' }));
    await userEvent.clear(screen.getByLabelText('id'));
    await userEvent.type(screen.getByLabelText('id'), 'lead_5');
    await userEvent.click(screen.getByRole('button', { name: 'Approve with changes' }));
    expect(asked).toEqual([
      ['approve', 'call_1', { id: 'lead_5', program: 'Alpine', notify: true }],
    ]);
    await userEvent.click(screen.getByRole('button', { name: 'Review one by one' }));
    expect(screen.getAllByRole('region', { name: 'Run delete_lead?' })).toHaveLength(3);
    await userEvent.click(screen.getByRole('button', { name: 'Show as a table' }));
    expect(screen.getByRole('table')).toBeTruthy();
  });

  it('name the agent of a nested call, and are bounded', () => {
    const long = calls.map((call, i) => ({
      ...call,
      args: { id: `lead_${i}`, a: i, b: i, c: i, d: i, e: '\u202e'.repeat(500) + i },
    }));
    table({
      approvals: long,
      agentOf: ({ tool_call_id: id }) => (id === 'call_1' ? 'a › b' : null),
    });
    expect(screen.getAllByRole('columnheader').map(({ textContent }) => textContent)).toEqual([
      '',
      'agent',
      'id',
      'a',
      'b',
      'c',
    ]);
    expect(screen.getByText('a › b')).toBeTruthy();
    expect(screen.getByText('2 more arguments differ.', { exact: false })).toBeTruthy();
    expect(document.body.textContent).not.toContain('\u202e');
  });
});
