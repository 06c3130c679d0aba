import { useCallback, useState, useSyncExternalStore } from 'react';

export type ListShown = 'auto' | 'shown' | 'hidden';

export interface Fold {
  /** `auto`: the stylesheet decides by the width. */
  readonly shown: ListShown;
  readonly isShown: boolean;
  readonly toggle: () => void;
}

/** The same width as in `styles/frame.css`. */
const wideWindow = '(width >= 1680px)';

const subscribe = (changed: () => void): (() => void) => {
  const query = matchMedia(wideWindow);
  query.addEventListener('change', changed);
  return () => query.removeEventListener('change', changed);
};

/** Hides the list in the trace except in wide windows. The user's choice for a view stays. */
export function useFold(isTrace: boolean): Fold {
  const isWide = useSyncExternalStore(subscribe, () => matchMedia(wideWindow).matches);
  const [chosen, setChosen] = useState<Readonly<Record<'trace' | 'chat', ListShown>>>({
    trace: 'auto',
    chat: 'auto',
  });
  const view = isTrace ? 'trace' : 'chat';
  const shown = chosen[view];
  const isShown = shown === 'auto' ? !isTrace || isWide : shown === 'shown';
  const toggle = useCallback(
    () => setChosen((before) => ({ ...before, [view]: isShown ? 'hidden' : 'shown' })),
    [view, isShown],
  );
  return { shown, isShown, toggle };
}
