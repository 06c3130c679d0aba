import type { ReactElement } from 'react';
import { Dialog } from './dialog.tsx';

const keys: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['/'], 'Search sessions'],
  [['N'], 'New session'],
  [['C'], 'Chat'],
  [['T'], 'Trace'],
  [['['], 'Show or hide the session list'],
  [['J', 'K'], 'Next or previous step'],
  [['O'], 'Focus an agent behind a call; Enter opens its trace'],
  [['G'], 'Focus Continue; Enter continues'],
  [['A', 'E', 'D'], 'Focus approve, edit, deny; Enter acts'],
  [['Enter'], 'Send'],
  [['Shift', 'Enter'], 'New line'],
  [['Esc'], 'Leave the field, close a dialog, or go up from a nested agent; never stops a run'],
  [['?'], 'Keyboard shortcuts'],
];

export function HelpDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="dialog-keys">
        {keys.map(([names, does]) => (
          <div key={does}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p className="muted">A single key only moves the focus or the view. No key acts on a run.</p>
    </Dialog>
  );
}
