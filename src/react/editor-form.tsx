import type { FormEvent, ReactElement, ReactNode } from 'react';
import { Glyph } from './glyph.tsx';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface EditorFormProps {
  readonly submitLabel: string;
  readonly kind: 'primary' | 'danger';
  /** Whether the answer is being sent: the draft stays and is not sent twice. */
  readonly isSending: boolean;
  readonly isBlocked?: boolean;
  /** Content after the buttons. */
  readonly aside?: ReactNode;
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
  readonly children: ReactNode;
}

/** Renders a form inside the conversation: Enter or the button submits, Escape leaves without an answer. */
export function EditorForm(props: EditorFormProps): ReactElement {
  const { submitLabel, kind, isSending, isBlocked, aside, onSubmit, onCancel, children } = props;
  const { labels } = useUi();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isSending) onSubmit();
  };
  return (
    <form
      {...part('editor')}
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit(event);
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onCancel();
      }}
    >
      {children}
      <div {...part('buttons')}>
        <button
          type="submit"
          {...part('button')}
          data-kind={kind}
          aria-disabled={isSending || isBlocked}
        >
          {kind === 'primary' && <Glyph name="check" size={14} />}
          {isSending ? labels.answering : submitLabel}
        </button>
        <button type="button" {...part('button')} onClick={onCancel}>
          {labels.cancel}
        </button>
        {aside}
      </div>
    </form>
  );
}
