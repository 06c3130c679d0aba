import { useLayoutEffect, useState, type RefObject } from 'react';

/** As wide as the design draws it, until a browser says how wide it is. */
const drawnAt = 428;

/** How many pixels wide an element is, and again when that changes. */
export function useWidth(ref: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(drawnAt);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const read = (): void => {
      const now = Math.round(element.getBoundingClientRect().width);
      if (now > 0) setWidth(now);
    };
    read();
    const observer = new ResizeObserver(read);
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}
