import type { ReactElement } from 'react';
import type { BroadcastStatus } from '../agent/agent-status.ts';

export type GlyphName =
  | 'working'
  | 'paused'
  | 'done'
  | 'stopped'
  | 'failed'
  | 'cancelled'
  | 'idle'
  | 'waiting'
  | 'swap'
  | 'compact'
  | 'attach'
  | 'file'
  | 'form'
  | 'copy'
  | 'close'
  | 'chevron'
  | 'send'
  | 'stop'
  | 'go'
  | 'down'
  | 'check';

const ring: ReactElement = <circle cx="8" cy="8" r="6" />;
const octagon: ReactElement = <path d="M5.6 2h4.8L14 5.6v4.8L10.4 14H5.6L2 10.4V5.6z" />;

/** Shapes that differ without their color. */
export const shapes: Readonly<Record<GlyphName, ReactElement>> = {
  working: (
    <>
      <circle cx="8" cy="8" r="6" opacity="0.3" />
      <path d="M8 2a6 6 0 0 1 6 6" />
    </>
  ),
  paused: (
    <>
      {ring}
      <path d="M6.4 6v4M9.6 6v4" />
    </>
  ),
  done: (
    <>
      {ring}
      <path d="m5.5 8.2 1.8 1.8 3.4-3.8" />
    </>
  ),
  stopped: (
    <>
      {octagon}
      <path d="M5.2 8h5.6" />
    </>
  ),
  failed: (
    <>
      {octagon}
      <path d="m6 6 4 4m0-4-4 4" />
    </>
  ),
  cancelled: (
    <>
      {ring}
      <path d="m4 12 8-8" />
    </>
  ),
  idle: ring,
  waiting: (
    <>
      {ring}
      <path d="M8 5v3l2 1.5" />
    </>
  ),
  swap: <path d="M3 5.5h9.5L10 3m3 7.5H3.5L6 13" />,
  compact: <path d="M4.5 2.5 8 6l3.5-3.5M4.5 13.5 8 10l3.5 3.5" />,
  attach: (
    <path d="m12.5 7.5-4.8 4.8a3 3 0 0 1-4.2-4.2l5.2-5.2a2 2 0 0 1 2.8 2.8l-5.1 5.1a1 1 0 0 1-1.4-1.4l4.6-4.6" />
  ),
  file: <path d="M4 2h5l3 3v9H4zM9 2v3h3" />,
  form: <path d="M2.5 3.5h11v9h-11zM5 6.5h6M5 9.5h3" />,
  copy: <path d="M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3" />,
  close: <path d="m4 4 8 8m0-8-8 8" />,
  chevron: <path d="m6 3.5 4.5 4.5L6 12.5" />,
  send: <path d="M8 13V3M3.8 7.2 8 3l4.2 4.2" />,
  stop: <rect x="4.5" y="4.5" width="7" height="7" rx="1" fill="currentColor" stroke="none" />,
  go: <path d="m3 4 4 4-4 4m6-8 4 4-4 4" />,
  down: <path d="M8 3v10m-4.2-4.2L8 13l4.2-4.2" />,
  check: <path d="m3 8.4 3.2 3.2L13 4.6" />,
};

export const statusGlyphs: Readonly<Record<BroadcastStatus, GlyphName>> = {
  idle: 'idle',
  processing: 'working',
  paused: 'paused',
  completed: 'done',
  stopped: 'stopped',
  cancelled: 'cancelled',
  failed: 'failed',
};

export interface GlyphProps<Name extends string> {
  readonly name: Name;
  readonly size?: number;
}

/** Creates a component that draws these shapes. They are decoration next to text, and hidden from screen readers. */
export const glyphsOf = <Name extends string>(
  shapesByName: Readonly<Record<Name, ReactElement>>,
): ((props: GlyphProps<Name>) => ReactElement) =>
  function Glyph({ name, size = 16 }: GlyphProps<Name>): ReactElement {
    return (
      <svg
        className="onward-glyph"
        data-glyph={name}
        width={size}
        height={size}
        viewBox="0 0 16 16"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
        focusable="false"
      >
        {shapesByName[name]}
      </svg>
    );
  };

export const Glyph: (props: GlyphProps<GlyphName>) => ReactElement = glyphsOf(shapes);
