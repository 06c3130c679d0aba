import { useEffect, useState, type ReactElement } from 'react';
import { Glyph } from '../glyphs.tsx';

const SHOWN_MS = 2_000;

/** Copies a text, which may have to be read first, and shows whether the browser allowed it. */
export function CopyText({
  text,
  what,
  isIcon = false,
}: {
  readonly text: () => string | Promise<string>;
  /** What is copied, for the name of the button. */
  readonly what: string;
  readonly isIcon?: boolean;
}): ReactElement {
  const [label, setLabel] = useState('Copy');
  useEffect(() => {
    if (label === 'Copy') return undefined;
    const timer = setTimeout(() => setLabel('Copy'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [label]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(await text());
      setLabel('Copied');
    } catch {
      setLabel('Not copied');
    }
  };
  const isHidden = isIcon && label === 'Copy';
  return (
    <button
      type="button"
      className="button button-ghost button-small payload-copy"
      title={`Copy ${what}`}
      onClick={() => void copy()}
    >
      <Glyph name="copy" size={12} />
      <span role="status" className={isHidden ? 'visually-hidden' : undefined}>
        {label}
      </span>
      <span className="visually-hidden"> {what}</span>
    </button>
  );
}
