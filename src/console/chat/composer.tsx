import { useId, useState, type ReactElement, type RefObject } from 'react';
import { useComposer } from '../../react/use-composer.ts';
import { Glyph } from '../glyphs.tsx';

export interface ComposerProps {
  /** Resolves to whether the message was taken: if not, its text comes back. */
  readonly onSend: (text: string) => Promise<boolean>;
  /** Why nothing can be sent now; null when it can. What is typed stays. */
  readonly blockedBy: string | null;
  readonly placeholder: string;
  readonly isBusy?: boolean;
  /** How far the work has come, such as `4 s · step 2 of 20`. */
  readonly busyText?: string;
  /** Given while there is something to stop. */
  readonly onStop?: () => void;
  readonly isStopping?: boolean;
  /** Text to go on with; each new object is put into the field. */
  readonly draft?: { readonly text: string } | null;
  /** To put the focus here. */
  readonly fieldRef?: RefObject<HTMLTextAreaElement | null>;
}

/** Enter sends, Shift+Enter makes a new line. What could not be sent is never lost. */
export function Composer(props: ComposerProps): ReactElement {
  const { onSend, blockedBy, placeholder, isBusy = false, busyText, onStop, fieldRef } = props;
  const { draft = null } = props;
  const isBlocked = blockedBy !== null;
  const { text, setText, canSend, onSubmit, field } = useComposer({
    onSend: async (message) => {
      const isTaken = await onSend(message);
      // beside what was typed meanwhile
      if (!isTaken) setText((typed) => (typed === '' ? text : `${text}\n${typed}`));
    },
    isBlocked,
    fieldRef,
  });
  const [taken, setTaken] = useState<typeof draft>(null);
  if (draft !== taken) {
    setTaken(draft);
    if (draft) setText((typed) => (typed.trim() === '' ? draft.text : `${draft.text}\n${typed}`));
  }
  const id = useId();
  return (
    <form className="composer" data-blocked={isBlocked || undefined} onSubmit={onSubmit}>
      <label htmlFor={`${id}-text`} className="visually-hidden">
        Message
      </label>
      <textarea
        {...field}
        id={`${id}-text`}
        disabled={isBlocked}
        placeholder={blockedBy ?? placeholder}
        aria-describedby={isBlocked ? `${id}-why` : undefined}
      />
      {isBlocked && (
        // an empty field says it by itself
        <p
          id={`${id}-why`}
          className={text === '' ? 'visually-hidden' : 'composer-note composer-why'}
        >
          {blockedBy}
        </p>
      )}
      {isBusy && busyText !== undefined && <span className="composer-note">{busyText}</span>}
      {onStop && (
        <button
          type="button"
          className="button"
          aria-disabled={props.isStopping}
          onClick={() => !props.isStopping && onStop()}
        >
          <Glyph name="stop" size={14} />
          {props.isStopping ? 'Stopping…' : 'Stop'}
        </button>
      )}
      {/* while it works, stopping is what the button at the end does; typing brings sending back */}
      {(!onStop || canSend) && (
        <button
          type="submit"
          className={`button button-icon ${canSend ? 'button-primary' : ''}`}
          aria-label={isBusy ? 'Queue' : 'Send'}
          aria-disabled={!canSend}
          disabled={isBlocked}
        >
          <Glyph name="send" size={14} />
        </button>
      )}
    </form>
  );
}
