import { useSyncExternalStore } from 'react';

/** The current view: the part of the address after `#`. */
export type Route =
  /** All sessions; on a wide window with a new one next to them. */
  | { readonly view: 'home' }
  | { readonly view: 'new' }
  | { readonly view: 'chat'; readonly sessionId: string }
  | {
      readonly view: 'trace';
      readonly sessionId: string;
      /** Selected step; null follows the newest. */
      readonly step: number | null;
      /** Selected execution; null is the newest. */
      readonly execution: string | null;
    };

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?');
  const [, first, id, third, fourth] = path.split('/');
  if (first === 'new') return { view: 'new' };
  const sessionId = first === 's' && id ? decoded(id) : null;
  if (sessionId === null) return { view: 'home' };
  if (third !== 'trace') return { view: 'chat', sessionId };
  const step = fourth !== undefined && /^\d+$/.test(fourth) ? Number(fourth) : null;
  return { view: 'trace', sessionId, step, execution: new URLSearchParams(query).get('execution') };
}

export function hrefOf(route: Route): string {
  if (route.view === 'home') return '#/';
  if (route.view === 'new') return '#/new';
  const session = `#/s/${encodeURIComponent(route.sessionId)}`;
  if (route.view === 'chat') return session;
  const { step, execution } = route;
  const query = execution === null ? '' : `?execution=${encodeURIComponent(execution)}`;
  return `${session}/trace${step === null ? '' : `/${step}`}${query}`;
}

export const chatHref = (sessionId: string): string => hrefOf({ view: 'chat', sessionId });
export const traceHref = (
  sessionId: string,
  step: number | null = null,
  execution: string | null = null,
): string => hrefOf({ view: 'trace', sessionId, step, execution });

/** `replace` skips the history entry, for example from step to step. */
export function go(href: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') location.hash = href;
  else location.replace(href);
}

const subscribe = (changed: () => void): (() => void) => {
  addEventListener('hashchange', changed);
  return () => removeEventListener('hashchange', changed);
};

export const useHash = (): string => useSyncExternalStore(subscribe, () => location.hash);

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
