import { useState, type ReactElement, type ReactNode } from 'react';
import { Glyph } from '../glyphs.tsx';
import { earlierText, inheritedText, type Turn } from './turns.ts';

export interface EarlierTurnsProps {
  readonly turns: readonly Turn[];
  /** Whether a fork has copied them. */
  readonly isInherited: boolean;
  readonly children: (turns: readonly Turn[]) => ReactNode;
}

/** Renders earlier turns folded into one line. They open below that line, which does not move. */
export function EarlierTurns({ turns, isInherited, children }: EarlierTurnsProps): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="earlier"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Glyph name="chevron" size={12} />
        {isInherited ? inheritedText(turns) : earlierText(turns)}
      </button>
      {isOpen && children(turns)}
    </>
  );
}
