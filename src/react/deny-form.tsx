import { useEffect, useId, useRef, useState, type ReactElement } from 'react';
import { EditorForm } from './editor-form.tsx';
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
  const submit = (): void => {
    if (reason.trim() === '') field.current?.focus();
    else onDeny(reason.trim());
  };
  return (
    <EditorForm submitLabel={labels.deny} kind="danger" onSubmit={submit} onCancel={onCancel}>
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
    </EditorForm>
  );
}
