import { useEffect, useId, useRef, useState, type FormEvent, type ReactElement } from 'react';
import { enter } from './enter-form.ts';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface DenyFormProps {
  readonly onDeny: (reason: string) => void;
  readonly onCancel: () => void;
}

/** Asks why not: the model reads the reason. Escape leaves without an answer. */
export function DenyForm({ onDeny, onCancel }: DenyFormProps): ReactElement {
  const { labels } = useUi();
  const [reason, setReason] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => enter(field.current), []);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (reason.trim() === '') field.current?.focus();
    else onDeny(reason.trim());
  };
  return (
    <form
      {...part('editor')}
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onCancel();
      }}
    >
      <label htmlFor={`${id}-reason`}>{labels.denyReason}</label>
      <input
        ref={field}
        id={`${id}-reason`}
        {...part('input')}
        value={reason}
        required
        autoComplete="off"
        aria-describedby={`${id}-hint`}
        onChange={(event) => setReason(event.target.value)}
      />
      <p id={`${id}-hint`} {...part('note')}>
        {labels.denyHint}
      </p>
      <div {...part('buttons')}>
        <button type="submit" {...part('button')} data-kind="danger">
          {labels.deny}
        </button>
        <button type="button" {...part('button')} onClick={onCancel}>
          {labels.cancel}
        </button>
      </div>
    </form>
  );
}
