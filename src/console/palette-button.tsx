import type { ReactElement } from 'react';
import { Glyph } from './glyphs.tsx';

/** Renders the button that opens the command palette. */
export function PaletteButton({ onOpen }: { readonly onOpen: () => void }): ReactElement {
  return (
    <button
      type="button"
      className="button palette-button"
      aria-keyshortcuts="Meta+K Control+K"
      title="Search or run a command"
      onClick={onOpen}
    >
      <Glyph name="search" size={14} />
      <span>Search or run a command</span>{' '}
      <kbd>{/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'}</kbd>
    </button>
  );
}
