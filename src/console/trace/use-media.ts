import { useCallback, useSyncExternalStore } from 'react';

/** Whether a media query matches; updates when that changes. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (changed: () => void) => {
      const list = window.matchMedia(query);
      list.addEventListener('change', changed);
      return () => list.removeEventListener('change', changed);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}

export const phone = '(max-width: 760px)';
/** Whether the checks are below the timeline. */
export const stacked = '(max-width: 1000px)';
export const lessMotion = '(prefers-reduced-motion: reduce)';
