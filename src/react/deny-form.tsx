import { useRef, useState, type FormEvent, type ReactElement } from 'react';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface DenyFormProps {
  readonly isSending: boolean;
  /** Text of the button. Default: `labels.deny`. */
  readonly label?: string;
  /** Whether there is nothing to deny. */
  readonly isBlocked?: boolean;
  readonly onDeny: (reason: string) => void;
}

/** Denies with a reason, which the model reads: without one, the field gets the focus. */
export function DenyForm({ onDeny, isSending, label, isBlocked }: DenyFormProps): ReactElement {
  const { labels } = useUi();
  const [reason, setReason] = useState('');
  const [isTried, setTried] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const isBlank = reason.trim() === '';
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (isBlank) field.current?.focus();
    else if (!isSending && !isBlocked) onDeny(reason.trim());
  };
  return (
    <form {...part('deny')} onSubmit={submit}>
      <input
        ref={field}
        {...part('input')}
        value={reason}
        dir="auto"
        autoComplete="off"
        aria-label={labels.denyReason}
        aria-required
        aria-invalid={(isTried && isBlank) || undefined}
        placeholder={labels.denyHint}
        data-key="deny"
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          setReason('');
          field.current?.blur();
        }}
      />
      <button
        type="submit"
        {...part('button')}
        data-kind="danger"
        aria-disabled={isBlank || isSending || isBlocked || undefined}
      >
        {label ?? labels.deny}
      </button>
    </form>
  );
}
