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
  | 'panel'
  | 'overview'
  | 'evals'
  | 'whatIf'
  | 'workers'
  | 'compare'
  | 'gaveUp'
  | 'clock'
  | 'shield'
  | 'sort'
  | 'download'
  | 'lock'
  | 'copy'
  | 'folded'
  | 'arrow'
  | 'differs';

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
  list: <path d="M5.5 4H14M5.5 8H14M5.5 12H14M2.2 4h.01M2.2 8h.01M2.2 12h.01" />,
  panel: (
    <>
      <rect x="2" y="3" width="12" height="10" rx="1.5" />
      <path d="M6 3v10" />
    </>
  ),
  // pages
  overview: <path d="M2.5 13.5v-5M6.2 13.5v-9M9.8 13.5V7M13.5 13.5v-11" />,
  evals: <path d="m2 4.5 1.3 1.3L5.5 3M2 11.5l1.3 1.3L5.5 10M8.5 4.5H14M8.5 11.5H14" />,
  whatIf: (
    <>
      <path d="M2 4.5h5M11 4.5h3M2 11.5h3M9 11.5h5" />
      <circle cx="9" cy="4.5" r="1.8" />
      <circle cx="7" cy="11.5" r="1.8" />
    </>
  ),
  workers: (
    <>
      <rect x="2.2" y="2.5" width="11.6" height="4.5" rx="1.2" />
      <rect x="2.2" y="9" width="11.6" height="4.5" rx="1.2" />
      <path d="M5 4.75h.01M5 11.25h.01" />
    </>
  ),
  compare: <path d="M3 3h4v10H3zM9.5 3h3.5v10H9.5z" />,
  // lists for operators
  gaveUp: (
    <path d="M2.5 5.5 8 9l5.5-3.5M3.5 3.5h9a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1z" />
  ),
  clock: (
    <>
      {shared.idle}
      <path d="M8 4.8V8l2.2 1.5" />
    </>
  ),
  shield: (
    <>
      <path d="M8 1.8 13 3.5v4c0 3.2-2.1 5.5-5 6.7-2.9-1.2-5-3.5-5-6.7v-4z" />
      <path d="m5.8 8 1.6 1.6 2.9-3.2" />
    </>
  ),
  sort: <path d="M8 3v10M4.5 9.5 8 13l3.5-3.5" />,
  // payloads
  lock: (
    <>
      <rect x="3.5" y="7" width="9" height="6.5" rx="1.2" />
      <path d="M5.5 7V5.2a2.5 2.5 0 0 1 5 0V7" />
    </>
  ),
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.5 5.5V4A1.5 1.5 0 0 0 9 2.5H4A1.5 1.5 0 0 0 2.5 4v5A1.5 1.5 0 0 0 4 10.5h1.5" />
    </>
  ),
  folded: <path d="M4.5 2.5 8 5.5l3.5-3M4.5 13.5 8 10.5l3.5 3M2.5 8h11" />,
  arrow: <path d="M2.5 8h10.5M9 4l4 4-4 4" />,
  differs: <path d="M2.5 5.5h9.5M9.5 3 12 5.5 9.5 8M13.5 10.5H4M6.5 8 4 10.5 6.5 13" />,
  download: <path d="M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10" />,
};

/** In order of precedence. */
export const decisionGlyph: Readonly<Record<ContinuationDecision, GlyphName>> = {
  forbid: 'forbid',
  request: 'request',
  stop: 'allowStop',
  allow: 'allow',
};

export const Glyph: (props: GlyphProps<GlyphName>) => ReactElement = glyphsOf(shapes);
