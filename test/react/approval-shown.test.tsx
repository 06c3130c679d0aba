// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApprovalCards } from '../../src/console/chat/approval-cards.tsx';
import { ApprovalView } from '../../src/react/index.ts';
import type { UiApproval } from '../../src/ui/ui-state.ts';
import { approval } from './component-fixtures.ts';

afterEach(cleanup);

const steering = /[^\P{C}\n]/u;
const evil = 'a\u202eb\u0007c\u200bd\ufeff';
const onApprove = vi.fn();

const views = [
  [
    'React',
    (shown: UiApproval) => (
      <ApprovalView approval={shown} action={null} onApprove={onApprove} onDeny={() => {}} />
    ),
  ],
  [
    'the console',
    (shown: UiApproval) => (
      <ApprovalCards
        approvals={[shown]}
        pending={[]}
        rows={[]}
        since={null}
        actions={[]}
        onApprove={onApprove}
        onDeny={() => {}}
      />
    ),
  ],
] as const;

const allText = (): string =>
  [
    document.body.textContent,
    ...Array.from(
      document.querySelectorAll<HTMLInputElement>('input, textarea'),
      ({ value }) => value,
    ),
  ].join('\n');

describe.each(views)('the shown arguments are those that run: %s', (_name, view) => {
  it.each<[string, UiApproval['args']]>([
    ['flat', { [evil]: evil, id: evil, name: evil }],
    // without a trailing space it is shown without quotes
    ['plain text', { text: `${evil}.` }],
    ['nested', { outer: { [evil]: [evil] }, id: evil }],
    ['truncated', { summary: `{"${evil}`, ref: 'r' }],
  ])(
    'control, bidi and invisible characters are escaped in names and values: %s',
    async (_case, args) => {
      render(view({ ...approval, args }));
      expect(allText()).toMatch(/a\\u202eb\\u0007c\\u200bd\\ufeff/);
      expect(allText()).not.toMatch(steering);
      const edit = screen.queryByRole('button', { name: 'Edit arguments' });
      if (!edit) return;
      await userEvent.click(edit);
      expect(allText()).not.toMatch(steering);
      onApprove.mockClear();
      await userEvent.click(screen.getByRole('button', { name: /^Approve/ }));
      // unchanged arguments are sent unchanged
      const [, sent = args] = onApprove.mock.calls[0] ?? [];
      expect(sent).toEqual(args);
    },
  );

  it('hidden parts are marked in place', () => {
    const args = { user: 'bob', password: '[redacted]' };
    render(view({ ...approval, args, hidden: ['/password'] }));
    expect(
      screen.getByText(/Hidden from view: \/password\. The tool gets the hidden values\./),
    ).toBeTruthy();
    const marked = [...document.querySelectorAll('dl [data-hidden]')];
    expect(marked.map(({ textContent }) => textContent)).toEqual(['password[redacted]']);
    cleanup();
    render(view({ ...approval, args: { a: { b: '[redacted]' } }, hidden: [''] }));
    expect(screen.getByText(/Parts of the arguments are hidden from view/)).toBeTruthy();
    cleanup();
    render(view({ ...approval, args }));
    expect(document.body.textContent).not.toContain('idden from view');
  });
});
