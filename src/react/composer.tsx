import { useId, useRef, useState, type ReactElement, type RefObject } from 'react';
import type { SentFile } from '../ui/sources/session-actions.ts';
import { AttachmentList } from './attachment-list.tsx';
import { Glyph } from './glyph.tsx';
import { part } from './part.ts';
import type { AttachmentLimits } from './read-attachments.ts';
import { useUi } from './ui-context.ts';
import { useAttachments } from './use-attachments.ts';
import { useComposer } from './use-composer.ts';

export interface ComposerProps {
  readonly onSend: (text: string, files?: readonly SentFile[]) => unknown;
  /** Limits of images and files. Absent: none can be attached. */
  readonly attachments?: AttachmentLimits | undefined;
  /** Why the user cannot send now; null if they can. The draft stays. */
  readonly blockedBy: string | null;
  /** Stops the run. Given while it can be stopped. */
  readonly onStop?: () => unknown;
  readonly isStopping?: boolean;
  readonly placeholder?: string;
  /** Text of the button instead of `labels.send`, such as "Queue". */
  readonly sendLabel?: string;
  /** Content next to the buttons, such as the progress. */
  readonly note?: string | undefined;
  /** Text to insert before the draft. Each new object is inserted once. */
  readonly draft?: { readonly text: string } | null;
  /** Whether the field is disabled while the user cannot send. */
  readonly isLocked?: boolean;
  /** Ref of the field, to focus it. */
  readonly fieldRef?: RefObject<HTMLTextAreaElement | null>;
}

/**
 * Renders a message field: Enter sends, Shift+Enter adds a new line. While sending is blocked, it says why and keeps
 * the draft.
 */
export function Composer(props: ComposerProps): ReactElement {
  const { onSend, blockedBy, onStop, isStopping = false, placeholder, fieldRef } = props;
  const { labels } = useUi();
  const isBlocked = blockedBy !== null;
  const limits = isBlocked ? null : (props.attachments ?? null);
  const attachments = useAttachments(limits);
  const { files, clear, area, isOver, add } = attachments;
  const send = (message: string): void => {
    if (files.length === 0) onSend(message);
    else onSend(message, files);
    clear();
  };
  const { text, setText, canSend, onSubmit, field } = useComposer({
    onSend: send,
    isBlocked,
    hasMore: files.length > 0,
    fieldRef,
  });
  const chooser = useRef<HTMLInputElement>(null);
  const { draft = null, note, isLocked = false } = props;
  const [taken, setTaken] = useState<typeof draft>(null);
  if (draft !== taken) {
    setTaken(draft);
    if (draft) setText((typed) => (typed.trim() === '' ? draft.text : `${draft.text}\n${typed}`));
  }
  const id = useId();
  return (
    <form
      {...part('composer')}
      data-blocked={isBlocked || undefined}
      data-over={isOver || undefined}
      onSubmit={onSubmit}
      {...area}
    >
      {limits && <AttachmentList attachments={attachments} limits={limits} />}
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
        // an empty field shows the reason as its placeholder
        <p id={`${id}-why`} {...part('composer-why')} style={text === '' ? hidden : undefined}>
          {blockedBy}
        </p>
      )}
      {limits && (
        <>
          <input
            ref={chooser}
            type="file"
            multiple
            hidden
            aria-label={labels.attach}
            onChange={(event) => {
              add(Array.from(event.target.files ?? []));
              event.target.value = '';
            }}
          />
          <button
            type="button"
            {...part('button')}
            data-kind="icon"
            data-key="attach"
            aria-label={labels.attach}
            title={labels.attach}
            onClick={() => chooser.current?.click()}
          >
            <Glyph name="attach" />
          </button>
        </>
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
      {/* during a run the last button stops; typing brings the send button back */}
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

/** Hides content visually, even without the stylesheet. Screen readers still read it. */
export const hidden = {
  position: 'absolute',
  width: 1,
  height: 1,
  overflow: 'hidden',
  clipPath: 'inset(50%)',
  whiteSpace: 'nowrap',
} as const;
