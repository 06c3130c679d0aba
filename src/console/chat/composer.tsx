import {
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type FormEvent,
  type KeyboardEvent,
  type ReactElement,
  type RefObject,
} from 'react';
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
  const [text, setText] = useState(draft?.text ?? '');
  const [taken, setTaken] = useState(draft);
  if (draft !== taken) {
    setTaken(draft);
    if (draft) setText((typed) => (typed.trim() === '' ? draft.text : `${draft.text}\n${typed}`));
  }
  const own = useRef<HTMLTextAreaElement>(null);
  const field = fieldRef ?? own;
  const id = useId();
  useLayoutEffect(() => grow(field.current), [text, field]);

  const isBlocked = blockedBy !== null;
  const canSend = !isBlocked && text.trim() !== '';
  const send = async (): Promise<void> => {
    if (!canSend) return;
    setText('');
    const isTaken = await onSend(text.trim());
    // beside what was typed meanwhile
    if (!isTaken) setText((typed) => (typed === '' ? text : `${text}\n${typed}`));
  };
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    void send();
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // an Enter that ends a composition belongs to the input method; Safari tells it by 229 alone
    const { isComposing, keyCode } = event.nativeEvent;
    if (event.key !== 'Enter' || event.shiftKey || isComposing || keyCode === 229) return;
    event.preventDefault();
    void send();
  };
  return (
    <form className="composer" data-blocked={isBlocked || undefined} onSubmit={onSubmit}>
      <label htmlFor={`${id}-text`} className="visually-hidden">
        Message
      </label>
      <textarea
        ref={field}
        id={`${id}-text`}
        rows={1}
        value={text}
        disabled={isBlocked}
        placeholder={blockedBy ?? placeholder}
        enterKeyHint="send"
        aria-describedby={isBlocked ? `${id}-why` : undefined}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
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

/** As high as its text; how high at most is up to the stylesheet. */
function grow(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.style.height = 'auto';
  field.style.height = `${field.scrollHeight}px`;
}
