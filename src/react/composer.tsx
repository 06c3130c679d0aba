import { useId, useState, type ReactElement, type RefObject } from 'react';
import { Glyph } from './glyph.tsx';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';
import { useComposer } from './use-composer.ts';

export interface ComposerProps {
  readonly onSend: (text: string) => unknown;
  /** Why nothing can be sent now; null when it can. What is typed stays. */
  readonly blockedBy: string | null;
  /** Given while there is something to stop. */
  readonly onStop?: () => unknown;
  readonly isStopping?: boolean;
  readonly placeholder?: string;
  /** What the button does in place of `labels.send`, such as "Queue". */
  readonly sendLabel?: string;
  /** Beside the buttons, such as how far the work has come. */
  readonly note?: string | undefined;
  /** Text to continue with: each new object is put into the field, before what is there. */
  readonly draft?: { readonly text: string } | null;
  /** Nothing can be typed while nothing can be sent. */
  readonly isLocked?: boolean;
  /** To put the focus here. */
  readonly fieldRef?: RefObject<HTMLTextAreaElement | null>;
}

/** Enter sends, Shift+Enter makes a new line. While nothing can be sent, it says why and keeps the draft. */
export function Composer(props: ComposerProps): ReactElement {
  const { onSend, blockedBy, onStop, isStopping = false, placeholder, fieldRef } = props;
  const { labels } = useUi();
  const isBlocked = blockedBy !== null;
  const { text, setText, canSend, onSubmit, field } = useComposer({ onSend, isBlocked, fieldRef });
  const { draft = null, note, isLocked = false } = props;
  const [taken, setTaken] = useState<typeof draft>(null);
  if (draft !== taken) {
    setTaken(draft);
    if (draft) setText((typed) => (typed.trim() === '' ? draft.text : `${draft.text}\n${typed}`));
  }
  const id = useId();
  return (
    <form {...part('composer')} data-blocked={isBlocked || undefined} onSubmit={onSubmit}>
      <label htmlFor={`${id}-text`} {...part('composer-label')} style={hidden}>
        {labels.message}
      </label>
      <textarea
        {...field}
        id={`${id}-text`}
        {...part('composer-text')}
        disabled={isBlocked && isLocked}
        placeholder={blockedBy ?? placeholder ?? labels.placeholder}
        aria-describedby={isBlocked ? `${id}-why` : undefined}
      />
      {isBlocked && (
        // an empty field says it by itself
        <p id={`${id}-why`} {...part('composer-why')} style={text === '' ? hidden : undefined}>
          {blockedBy}
        </p>
      )}
      {note !== undefined && <span {...part('composer-note')}>{note}</span>}
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
      {/* while it works, stopping is what the button at the end does; typing brings sending back */}
      {(!onStop || canSend) && (
        <button
          type="submit"
          {...part('button')}
          data-kind={canSend ? 'primary' : 'icon'}
          aria-disabled={!canSend}
        >
          <Glyph name="send" />
          <span {...part('button-text')}>{props.sendLabel ?? labels.send}</span>
        </button>
      )}
    </form>
  );
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
