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
import { Glyph } from './glyph.tsx';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface ComposerProps {
  readonly onSend: (text: string) => unknown;
  /** Why nothing can be sent now; null when it can. What is typed stays. */
  readonly blockedBy: string | null;
  /** Given while there is something to stop. */
  readonly onStop?: () => unknown;
  readonly isStopping?: boolean;
  readonly placeholder?: string;
  /** To put the focus here. */
  readonly fieldRef?: RefObject<HTMLTextAreaElement | null>;
}

/** Enter sends, Shift+Enter makes a new line. While nothing can be sent, it says why and keeps the draft. */
export function Composer(props: ComposerProps): ReactElement {
  const { onSend, blockedBy, onStop, isStopping = false, placeholder, fieldRef } = props;
  const { labels } = useUi();
  const [text, setText] = useState('');
  const own = useRef<HTMLTextAreaElement>(null);
  const field = fieldRef ?? own;
  const id = useId();
  useLayoutEffect(() => grow(field.current), [text, field]);

  const canSend = blockedBy === null && text.trim() !== '';
  const send = (): void => {
    if (!canSend) return;
    onSend(text.trim());
    setText('');
  };
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    send();
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // an Enter that ends a composition belongs to the input method
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form {...part('composer')} data-blocked={blockedBy !== null || undefined} onSubmit={onSubmit}>
      <label htmlFor={`${id}-text`} {...part('composer-label')} style={hidden}>
        {labels.message}
      </label>
      <textarea
        ref={field}
        id={`${id}-text`}
        {...part('composer-text')}
        rows={1}
        value={text}
        placeholder={blockedBy ?? placeholder ?? labels.placeholder}
        enterKeyHint="send"
        aria-describedby={blockedBy === null ? undefined : `${id}-why`}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {blockedBy !== null && (
        // an empty field says it by itself
        <p id={`${id}-why`} {...part('composer-why')} style={text === '' ? hidden : undefined}>
          {blockedBy}
        </p>
      )}
      {onStop && (
        <button
          type="button"
          {...part('button')}
          aria-disabled={isStopping}
          onClick={() => !isStopping && onStop()}
        >
          <Glyph name="stop" />
          {isStopping ? labels.stopping : labels.stop}
        </button>
      )}
      {!(onStop && blockedBy !== null) && (
        <button
          type="submit"
          {...part('button')}
          data-kind={canSend ? 'primary' : 'icon'}
          aria-disabled={!canSend}
        >
          <Glyph name="send" />
          <span {...part('button-text')}>{labels.send}</span>
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

/** For screen readers alone, also without the stylesheet. */
export const hidden = {
  position: 'absolute',
  width: 1,
  height: 1,
  overflow: 'hidden',
  clipPath: 'inset(50%)',
  whiteSpace: 'nowrap',
} as const;
