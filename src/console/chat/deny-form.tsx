import { useEffect, useId, useRef, useState, type ReactElement } from 'react';

export interface DenyFormProps {
  readonly isSending: boolean;
  readonly onDeny: (reason: string) => void;
  readonly onCancel: () => void;
}

/** Asks why not: the model reads the reason. Escape leaves without an answer. */
export function DenyForm({ isSending, onDeny, onCancel }: DenyFormProps): ReactElement {
  const [reason, setReason] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => field.current?.focus(), []);
  const submit = (): void => {
    if (isSending) return;
    if (reason.trim() === '') field.current?.focus();
    else onDeny(reason.trim());
  };
  return (
    <form
      className="approval-form"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onCancel();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div className="approval-reason">
        <label htmlFor={id}>Why not?</label>
        <input
          ref={field}
          id={id}
          className="field"
          value={reason}
          required
          autoComplete="off"
          aria-describedby={`${id}-hint`}
          onChange={(event) => setReason(event.target.value)}
        />
        <p id={`${id}-hint`} className="approval-hint">
          The model reads this as the result of the call, and can try something else.
        </p>
      </div>
      <div className="approval-buttons">
        <button
          type="submit"
          className="button button-danger"
          aria-disabled={isSending || reason.trim() === ''}
        >
          {isSending ? 'Sending…' : 'Deny'}
        </button>
        <button type="button" className="button" onClick={onCancel}>
          Cancel
        </button>
        <span className="approval-keys" aria-hidden="true">
          <kbd>⏎</kbd>
          <kbd>Esc</kbd>
        </span>
      </div>
    </form>
  );
}
