import { useCallback, useEffect, useRef, type RefObject } from 'react';
import type { Route } from './route.ts';

type Target = 'title' | 'composer';

/**
 * Focuses the heading of a new page, also for screen readers, and the field of a new session. The browser handles the
 * first page. Returns a function that sets another target for the next page.
 */
export function useRouteFocus(
  route: Route,
  title: RefObject<HTMLElement | null>,
): (target: Target) => void {
  const call = route.view === 'trace' ? (route.call?.callId ?? '') : '';
  const of = 'sessionId' in route ? route.sessionId : route.view === 'page' ? route.page : '';
  const page = `${route.view} ${of} ${call}`;
  const asked = useRef<Target | null>(null);
  const last = useRef<string | null>(null);
  useEffect(() => {
    const isFirst = last.current === null;
    const isSame = last.current === page;
    last.current = page;
    if (isSame || (isFirst && route.view !== 'new')) return;
    const target = asked.current ?? (route.view === 'new' ? 'composer' : 'title');
    asked.current = null;
    const field = document.querySelector<HTMLElement>('main textarea:not(:disabled)');
    if (target === 'composer' && field) field.focus();
    else title.current?.focus();
  }, [page, route.view, title]);
  return useCallback((target: Target): void => {
    asked.current = target;
    // already there: no change will move the focus
    if (target === 'composer')
      document.querySelector<HTMLElement>('main .onward-composer textarea:not(:disabled)')?.focus();
  }, []);
}
