import type { FormEvent, ReactElement, ReactNode } from 'react';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface EditorFormProps {
  readonly submitLabel: string;
  readonly kind: 'primary' | 'danger';
  readonly isBlocked?: boolean;
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
  readonly children: ReactNode;
}

/** A question inside the conversation: Enter or the button answers, Escape leaves without an answer. */
export function EditorForm(props: EditorFormProps): ReactElement {
  const { submitLabel, kind, isBlocked, onSubmit, onCancel, children } = props;
  const { labels } = useUi();
  return (
    <form
      {...part('editor')}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        onSubmit();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onCancel();
      }}
    >
      {children}
      <div {...part('buttons')}>
        <button type="submit" {...part('button')} data-kind={kind} aria-disabled={isBlocked}>
          {submitLabel}
        </button>
        <button type="button" {...part('button')} onClick={onCancel}>
          {labels.cancel}
        </button>
      </div>
    </form>
  );
}
