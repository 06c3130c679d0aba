import type { ReactElement } from 'react';
import type { Trace } from '../../trace/trace.ts';
import { statusGlyphs } from '../../react/glyph.tsx';
import { Glyph } from '../glyphs.tsx';
import { stacked, useMedia } from './use-media.ts';

/** Renders why it stopped with a link to the criteria, if these are far below. */
export function WhyLine({
  trace,
  onOpen,
}: {
  readonly trace: Trace;
  readonly onOpen: () => void;
}): ReactElement | null {
  const isStacked = useMedia(stacked);
  const { stop, status } = trace;
  if (!isStacked || !stop) return null;
  return (
    <button type="button" className="trace-why" data-status={status} onClick={onOpen}>
      <Glyph name={statusGlyphs[status]} size={14} />
      <span>
        <b>{stop.explanation.headline}</b>
      </span>
      <Glyph name="expand" size={12} />
    </button>
  );
}
