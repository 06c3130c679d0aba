import { useCallback, useEffect, useRef, type RefObject } from 'react';
import type { Route } from './route.ts';

type Target = 'title' | 'composer';

/**
 * A new page begins at its heading, also for those who listen; a new session at its field. The first page is left to
 * the browser. What it returns asks for another place the next time.
 */
export function useRouteFocus(
  route: Route,
  title: RefObject<HTMLElement | null>,
): (target: Target) => void {
  const place = `${route.view} ${'sessionId' in route ? route.sessionId : ''}`;
  const asked = useRef<Target | null>(null);
  const last = useRef<string | null>(null);
  useEffect(() => {
    const isFirst = last.current === null;
    const isSame = last.current === place;
    last.current = place;
    if (isSame || (isFirst && route.view !== 'new')) return;
    const target = asked.current ?? (route.view === 'new' ? 'composer' : 'title');
    asked.current = null;
    const field = document.querySelector<HTMLElement>('main textarea:not(:disabled)');
    if (target === 'composer' && field) field.focus();
    else title.current?.focus();
  }, [place, route.view, title]);
  return useCallback((target: Target): void => {
    asked.current = target;
    // already there: nothing will change that could move it
    if (target === 'composer')
      document.querySelector<HTMLElement>('main .onward-composer textarea:not(:disabled)')?.focus();
  }, []);
}
