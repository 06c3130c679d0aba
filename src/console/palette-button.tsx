import type { ReactElement } from 'react';
import { Glyph } from './glyphs.tsx';

/** Renders the button that opens the command palette. */
export function PaletteButton({ onOpen }: { readonly onOpen: () => void }): ReactElement {
  return (
    <button
      type="button"
      className="button palette-button"
      aria-label="Search or run a command"
      aria-keyshortcuts="Meta+K Control+K"
      title="Search or run a command"
      onClick={onOpen}
    >
      <Glyph name="search" size={14} />
      <span aria-hidden="true">Search or run a command</span>
      <kbd aria-hidden="true">{/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'}</kbd>
    </button>
  );
}
