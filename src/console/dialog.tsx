import { useEffect, useId, useRef, type ReactElement, type ReactNode } from 'react';
import { Glyph } from './glyphs.tsx';

export interface DialogProps {
  readonly title: string;
  readonly size?: 'wide';
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Renders a modal dialog: the browser keeps the focus inside, closes it with Escape and restores the focus. */
export function Dialog({ title, size, onClose, children }: DialogProps): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      data-size={size}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        // a click on the dialog element itself is a click on the backdrop
        if (event.target === dialog.current) dialog.current.close();
      }}
    >
      <div className="dialog-box">
        <header>
          <h2 id={id}>{title}</h2>
          <button
            type="button"
            className="button button-icon button-ghost button-small"
            aria-label="Close"
            onClick={() => dialog.current?.close()}
          >
            <Glyph name="close" size={14} />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
