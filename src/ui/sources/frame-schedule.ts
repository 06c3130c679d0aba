/** Calls back once, soon; what it returns takes that back. */
export type Schedule = (flush: () => void) => () => void;

/** A hidden tab gets no frames: then a timer shows what came. */
const hiddenMs = 100;

/** With the next frame, so that a thousand chunks a second are drawn sixty times; without a screen after 16 ms. */
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
