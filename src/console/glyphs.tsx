import type { ReactElement } from 'react';
import type { ContinuationDecision } from '../continuation/decision.ts';
import {
  glyphsOf,
  shapes as shared,
  type GlyphName as SharedName,
  type GlyphProps,
} from '../react/glyph.tsx';

export type GlyphName =
  | SharedName
  | 'retry'
  | 'forbid'
  | 'request'
  | 'allowStop'
  | 'allow'
  | 'up'
  | 'expand'
  | 'back'
  | 'plus'
  | 'search'
  | 'chat'
  | 'trace'
  | 'fork'
  | 'trash'
  | 'info'
  | 'theme'
  | 'reload'
  | 'list'
  | 'settings'
  | 'panel';

/** Shapes of the chat components and of the console. */
const shapes: Readonly<Record<GlyphName, ReactElement>> = {
  ...shared,
  // statuses
  retry: (
    <>
      {shared.idle}
      <path d="M8 5v3l2 1.5" />
    </>
  ),
  // decisions of checks
  forbid: (
    <>
      <path d="M5.2 1.2h5.6l4 4v5.6l-4 4H5.2l-4-4V5.2z" fill="currentColor" stroke="none" />
      <path d="M4.9 8h6.2" stroke="var(--bg)" strokeWidth="2" />
    </>
  ),
  request: <path d="M4 2.6v10.8L13 8z" fill="currentColor" />,
  allowStop: (
    <>
      <rect x="2.2" y="2.2" width="11.6" height="11.6" rx="2" />
      <path d="M13.4 2.6v10.8H2.6z" fill="currentColor" stroke="none" />
    </>
  ),
  allow: <circle cx="8" cy="8" r="4" />,
  // controls
  up: <path d="m3.5 10 4.5-4.5 4.5 4.5" />,
  expand: <path d="m3.5 6 4.5 4.5L12.5 6" />,
  back: <path d="M10 3.5 5.5 8l4.5 4.5" />,
  plus: <path d="M8 3v10M3 8h10" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.5" />
      <path d="m10.4 10.4 3.4 3.4" />
    </>
  ),
  chat: <path d="M3 3h10v7.5H8L5 13.2v-2.7H3z" />,
  trace: <path d="M2 4h5M5 8h6M9 12h5" strokeWidth="2" />,
  fork: (
    <>
      <circle cx="4.5" cy="3.5" r="1.5" />
      <circle cx="11.5" cy="3.5" r="1.5" />
      <circle cx="8" cy="12.5" r="1.5" />
      <path d="M4.5 5v1.5c0 1.2.8 2 2 2h3c1.2 0 2-.8 2-2V5M8 8.5V11" />
    </>
  ),
  settings: (
    <>
      <path d="M2 5h6m4 0h2M2 11h2m4 0h6" />
      <circle cx="10" cy="5" r="1.8" />
      <circle cx="6" cy="11" r="1.8" />
    </>
  ),
  trash: <path d="M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5" />,
  info: (
    <>
      {shared.idle}
      <path d="M8 7.4v3.4M8 5.2v.1" />
    </>
  ),
  theme: (
    <>
      {shared.idle}
      <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" stroke="none" />
    </>
  ),
  reload: <path d="M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3" />,
  list: <path d="M2.5 3.5h11M2.5 8h11M2.5 12.5h11" />,
  panel: (
    <>
      <rect x="2" y="3" width="12" height="10" rx="1.5" />
      <path d="M6 3v10" />
    </>
  ),
};

/** In order of precedence. */
export const decisionGlyph: Readonly<Record<ContinuationDecision, GlyphName>> = {
  forbid: 'forbid',
  request: 'request',
  stop: 'allowStop',
  allow: 'allow',
};

export const Glyph: (props: GlyphProps<GlyphName>) => ReactElement = glyphsOf(shapes);
