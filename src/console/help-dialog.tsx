import type { ReactElement } from 'react';
import { Dialog } from './dialog.tsx';
import { railPages } from './pages.ts';

type Row = readonly [keys: readonly string[], does: string];

const groups = (): readonly (readonly [title: string, rows: readonly Row[]])[] => [
  [
    'Anywhere',
    [
      [[/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl', 'K'], 'Commands and sessions'],
      [['/'], 'Search'],
      ...railPages().map(([, { title, key = '' }]): Row => [['G', key.toUpperCase()], title]),
      [['?'], 'This list'],
      [['Esc'], 'Leave the field, close, go up; never stops a run'],
    ],
  ],
  [
    'Lists and traces',
    [
      [['J', 'K'], 'Next, previous row'],
      [['X'], 'Select row'],
      [['O'], 'Focus an agent behind a call'],
      [['['], 'Show or hide the list'],
    ],
  ],
  [
    'In a session',
    [
      [['C'], 'Chat'],
      [['T'], 'Trace'],
      [['N'], 'New session'],
      [['G', 'G'], 'Focus Continue'],
      [['A'], 'Focus Approve'],
      [['E'], 'Focus Edit'],
      [['D'], 'Focus Deny'],
      [['↵'], 'Send; with Shift a new line'],
    ],
  ],
];

export function HelpDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  return (
    <Dialog title="Keyboard shortcuts" size="wide" onClose={onClose}>
      <div className="dialog-keys">
        {groups().map(([title, rows]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {rows.map(([names, does]) => (
                <div key={does}>
                  <dt>
                    {names.map((name, at) => (
                      // the same key may come twice: G G
                      // oxlint-disable-next-line react/no-array-index-key
                      <kbd key={at}>{name}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p className="muted">
        A key moves the focus or changes the view. Only <kbd>↵</kbd> on a focused button changes a
        run.
      </p>
    </Dialog>
  );
}
