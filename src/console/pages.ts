import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import type { ServerInfo } from '../server/api.ts';
import type { Api } from './api-client.ts';
import type { GlyphName } from './glyphs.tsx';
import type { PageName, PageRoute } from './route.ts';

export interface PageProps {
  readonly api: Api;
  /** Null before the first response of the server. */
  readonly info: ServerInfo | null;
  /** Address of the page: what it shows is in its path and query, so that a link shows the same. */
  readonly route: PageRoute;
}

export interface ConsolePage {
  readonly title: string;
  readonly glyph: GlyphName;
  /** The key after `G` that opens it. A page without a key has no entry in the rail either. */
  readonly key?: string;
  readonly Page: LazyExoticComponent<ComponentType<PageProps>>;
}

const page = (
  load: () => Promise<ComponentType<PageProps>>,
  facts: Omit<ConsolePage, 'Page'>,
): ConsolePage => ({ ...facts, Page: lazy(async () => ({ default: await load() })) });

/**
 * Pages that exist, in the order of the rail. Each is a folder of this module and a file of its own in the browser. To
 * add one, add its line: the rail, the address, the keys and the command palette follow.
 */
export const pages: Readonly<Record<PageName, ConsolePage>> = {
  overview: page(async () => (await import('./overview/overview-page.tsx')).OverviewPage, {
    title: 'Overview',
    glyph: 'overview',
    key: 'o',
  }),
  sessions: page(async () => (await import('./sessions/sessions-page.tsx')).SessionsPage, {
    title: 'Sessions',
    glyph: 'list',
    key: 's',
  }),
  evals: page(async () => (await import('./evals/evals-page.tsx')).EvalsPage, {
    title: 'Evals',
    glyph: 'evals',
    key: 'e',
  }),
  'what-if': page(async () => (await import('./what-if/what-if-page.tsx')).WhatIfPage, {
    title: 'What if',
    glyph: 'whatIf',
    key: 'i',
  }),
  workers: page(async () => (await import('./workers/workers-page.tsx')).WorkersPage, {
    title: 'Workers',
    glyph: 'workers',
    key: 'w',
  }),
  compare: page(async () => (await import('./compare/compare-page.tsx')).ComparePage, {
    title: 'Compare',
    glyph: 'compare',
  }),
};

/** Returns the pages of the rail, in order. */
export const railPages = (): readonly (readonly [PageName, ConsolePage])[] =>
  (Object.entries(pages) as [PageName, ConsolePage][]).filter(([, { key }]) => key !== undefined);
