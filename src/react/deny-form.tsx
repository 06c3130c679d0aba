import { useEffect, useId, useRef, useState, type ReactElement } from 'react';
import { EditorForm, type EditorFormProps } from './editor-form.tsx';
import { enter } from './enter-form.ts';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface DenyFormProps extends Pick<EditorFormProps, 'isSending' | 'aside' | 'onCancel'> {
  readonly onDeny: (reason: string) => void;
}

/** Asks why the call is denied: the model reads the reason. Escape leaves without an answer. */
export function DenyForm({ onDeny, ...form }: DenyFormProps): ReactElement {
  const { labels } = useUi();
  const [reason, setReason] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => enter(field.current), []);
  const isBlank = reason.trim() === '';
  const submit = (): void => {
    if (isBlank) field.current?.focus();
    else onDeny(reason.trim());
  };
  return (
    <EditorForm
      {...form}
      submitLabel={labels.deny}
      kind="danger"
      isBlocked={isBlank}
      onSubmit={submit}
    >
      <div {...part('reason')}>
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
      </div>
    </EditorForm>
  );
}
