import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';

/** Closer than this to the end counts as being there. */
const nearPx = 48;

export interface FollowEnd {
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly onScroll: () => void;
  /** There is something below that the reader has not seen. */
  readonly isBehind: boolean;
  readonly toEnd: () => void;
}

/** Stays at the end of what grows, unless the reader has scrolled up: then nothing moves. */
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
    // a keyboard that opens or a note that appears makes the box smaller, which is no scrolling
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) box.scrollTop = box.scrollHeight;
    });
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  return { ref, onScroll, isBehind, toEnd };
}
