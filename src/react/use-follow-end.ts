import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';

/** Pixels from the end that still count as the end. */
const nearPx = 48;

export interface FollowEnd {
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly onScroll: () => void;
  /** Whether there is unseen content below. */
  readonly isBehind: boolean;
  readonly toEnd: () => void;
}

/** Scrolls with growing content, unless the reader has scrolled up. */
export function useFollowEnd(news: unknown, more: unknown): FollowEnd {
  const ref = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [isBehind, setBehind] = useState(false);

  const toEnd = useCallback((): void => {
    const box = ref.current;
    if (box) box.scrollTop = box.scrollHeight;
    isAtEnd.current = true;
    setBehind(false);
  }, []);
  const onScroll = useCallback((): void => {
    const box = ref.current;
    if (!box) return;
    isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < nearPx;
    if (isAtEnd.current) setBehind(false);
  }, []);
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    if (isAtEnd.current) toEnd();
    else if (!isFirst.current) setBehind(true);
    isFirst.current = false;
  }, [news, more, toEnd]);
  useEffect(() => {
    const box = ref.current;
    if (!box || typeof ResizeObserver === 'undefined') return;
    // an opened keyboard or a new note makes the box smaller, which is not scrolling
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) box.scrollTop = box.scrollHeight;
    });
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  return { ref, onScroll, isBehind, toEnd };
}
