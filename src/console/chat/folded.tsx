import { useState, type ReactElement, type ReactNode } from 'react';
import { countText } from '../../number-text.ts';

/** Characters and lines from which a message is folded. */
const LONG_CHARACTERS = 6_000;
const LONG_LINES = 80;

const isLong = (text: string): boolean =>
  text.length > LONG_CHARACTERS || text.split('\n', LONG_LINES + 1).length > LONG_LINES;

export interface FoldedProps {
  readonly text: string;
  /** Whether more text may arrive: then nothing folds. */
  readonly isStreaming?: boolean;
  readonly children: ReactNode;
}

/** Folds a long message, with a button that shows it. One that was streamed stays open. */
export function Folded({ text, isStreaming = false, children }: FoldedProps): ReactElement {
  const [isOpen, setOpen] = useState(isStreaming);
  if (isOpen || isStreaming || !isLong(text)) return <>{children}</>;
  return (
    <>
      <div className="folded" inert>
        {children}
      </div>
      <button type="button" className="fold-more" onClick={() => setOpen(true)}>
        {`Show all ${countText(text.length)} characters`}
      </button>
    </>
  );
}
