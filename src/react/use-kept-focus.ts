import { useLayoutEffect, useRef, type FocusEvent, type RefObject } from 'react';

export interface KeptFocus {
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly onFocus: () => void;
  readonly onBlur: (event: FocusEvent) => void;
}

/** Moves the focus to the next title if the element that had it is gone, and to `next` after the last one. */
export function useKeptFocus(
  titles: string,
  next: RefObject<HTMLElement | null> | undefined,
): KeptFocus {
  const ref = useRef<HTMLDivElement>(null);
  const hadFocus = useRef(false);
  useLayoutEffect(() => {
    const { activeElement, body } = document;
    if (!hadFocus.current || (activeElement !== body && activeElement !== null)) return;
    const title = ref.current?.querySelector<HTMLElement>(titles);
    (title ?? next?.current)?.focus({ preventScroll: !title });
    if (!title) hadFocus.current = false;
  });
  const onFocus = (): void => {
    hadFocus.current = true;
  };
  const onBlur = (event: FocusEvent): void => {
    // an element that is removed while it has the focus blurs to nothing
    if (event.relatedTarget && !event.currentTarget.contains(event.relatedTarget))
      hadFocus.current = false;
  };
  return { ref, onFocus, onBlur };
}
