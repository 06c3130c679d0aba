/** Schedules one callback; returns a function that cancels it. */
export type Schedule = (flush: () => void) => () => void;

/** A hidden tab gets no frames, so a timer flushes. */
const hiddenMs = 100;

/**
 * Flushes with the next frame, so that a thousand chunks per second cause 60 renders; after 16 ms without a browser.
 */
export const frameSchedule: Schedule = (flush) => {
  const hasFrames = typeof requestAnimationFrame === 'function';
  const frame = hasFrames ? requestAnimationFrame(() => done()) : null;
  const timer = setTimeout(() => done(), hasFrames ? hiddenMs : 16);
  const cancel = (): void => {
    clearTimeout(timer);
    if (frame !== null) cancelAnimationFrame(frame);
  };
  const done = (): void => {
    cancel();
    flush();
  };
  return cancel;
};
