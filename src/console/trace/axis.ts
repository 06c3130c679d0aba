import type { Trace, TracePause, TraceStep } from '../../trace/trace.ts';
import { durationText } from '../../number-text.ts';

/** A horizontal axis. All positions are shares of the width, 0 to 1. */
export interface AxisTick {
  readonly at: number;
  readonly left: number;
  readonly label: string;
}

/** Pauses: all have the same width, however long they took. */
export interface AxisBreak {
  readonly at: number;
  readonly left: number;
  readonly width: number;
  readonly pauses: readonly TracePause[];
}

export interface Axis {
  readonly startMs: number;
  readonly endMs: number;
  readonly ticks: readonly AxisTick[];
  readonly breaks: readonly AxisBreak[];
  readonly endLabel: string;
  /** Returns the position of a working time; at a pause, the edge before or after it. */
  place(at: number, side: 'before' | 'after'): number;
}

export type AxisSource = Pick<Trace, 'steps' | 'pauses' | 'hasEarlier'>;

const breakShare = 0.07;
/** Share of the width for all pauses together, so that most is left for the work. */
const breakShareOfAll = 0.28;

/**
 * Creates an axis of working time; pauses interrupt it and take none of it. While a step runs, the axis ends at a
 * tick ahead of it, so that its bar grows and everything else stays in position.
 */
export function axisOf(source: AxisSource, maxTicks: number = 4): Axis {
  const startMs = source.hasEarlier ? (source.steps[0]?.at ?? 0) : 0;
  const pauses = source.pauses.filter(({ at }) => at >= startMs);
  const worked = Math.max(startMs, ...ends(source.steps), ...pauses.map(({ at }) => at).slice(-1));
  const isOpen = source.steps.at(-1)?.type === 'running';
  const step = tickStep(Math.max(1, worked - startMs), maxTicks);
  const endMs = isOpen ? (Math.floor(worked / step) + 1) * step : Math.max(worked, startMs + 1);

  const spots = breaksOf(pauses);
  const width = Math.min(breakShare, breakShareOfAll / Math.max(1, spots.length));
  const workShare = 1 - width * spots.length;
  const place = (at: number, side: 'before' | 'after'): number => {
    const inside = Math.min(endMs, Math.max(startMs, at));
    const passed = spots.findIndex((spot) => (side === 'after' ? spot.at > at : spot.at >= at));
    const count = passed < 0 ? spots.length : passed;
    return ((inside - startMs) / (endMs - startMs)) * workShare + count * width;
  };
  return {
    startMs,
    endMs,
    place,
    ticks: ticksOf(startMs, endMs, step).map((at) => ({
      at,
      left: place(at, 'before'),
      label: tickText(at, step, endMs),
    })),
    breaks: spots.map((spot) => ({ ...spot, left: place(spot.at, 'before'), width })),
    endLabel: isOpen ? tickText(endMs, step, endMs) : durationText(worked),
  };
}

/** Whether two axes draw everything at the same position. */
export const sameAxis = (a: Axis, b: Axis): boolean =>
  a.startMs === b.startMs &&
  a.endMs === b.endMs &&
  a.endLabel === b.endLabel &&
  a.ticks.length === b.ticks.length &&
  a.breaks.length === b.breaks.length &&
  a.breaks.every(({ at, pauses }, i) => {
    const other = b.breaks[i];
    return other?.at === at && pauses.every((pause, j) => other.pauses[j] === pause);
  });

/** Returns the maximum without spreading a million arguments into Math.max; the last steps reach furthest. */
const ends = (steps: readonly TraceStep[]): number[] =>
  steps
    .slice(-50)
    .flatMap((step) => [
      step.at + step.durationMs + step.waitMs,
      ...step.bars.map((bar) => bar.at + bar.durationMs),
    ]);

/** Merges pauses at the same working time into one break. */
function breaksOf(
  pauses: readonly TracePause[],
): { readonly at: number; readonly pauses: readonly TracePause[] }[] {
  const spots = new Map<number, TracePause[]>();
  for (const pause of pauses.toSorted((a, b) => a.at - b.at)) {
    const known = spots.get(pause.at);
    if (known) known.push(pause);
    else spots.set(pause.at, [pause]);
  }
  return [...spots].map(([at, here]) => ({ at, pauses: here }));
}

const minute = 60_000;
const hour = 60 * minute;
const steps: readonly number[] = [
  ...[1, 10, 100, 1000].flatMap((tens) => [tens, 2 * tens, 5 * tens]),
  ...[10, 15, 30].map((seconds) => seconds * 1000),
  ...[1, 2, 5, 10, 15, 30, 60, 120, 360, 720, 1440].map((minutes) => minutes * minute),
];

/** Returns the smallest round step that gives at most `maxTicks` over `spanMs`. */
export const tickStep = (spanMs: number, maxTicks: number): number =>
  steps.find((step) => spanMs / step <= maxTicks) ??
  Math.ceil(spanMs / maxTicks / (24 * hour)) * 24 * hour;

function ticksOf(startMs: number, endMs: number, step: number): number[] {
  const ticks: number[] = [];
  for (let at = Math.ceil(startMs / step) * step; at < endMs; at += step) ticks.push(at);
  return ticks;
}

/** Formats a tick; all ticks of one axis use the same unit. */
function tickText(at: number, step: number, endMs: number): string {
  if (endMs < 1000) return `${at} ms`;
  if (step < minute && endMs < 2 * minute) return `${Number((at / 1000).toFixed(3))} s`;
  const minutes = Math.floor(at / minute);
  const seconds = Math.round((at % minute) / 1000);
  if (endMs < hour) return seconds === 0 ? `${minutes}m` : `${minutes}m ${seconds}s`;
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return rest === 0 ? `${hours}h` : hours === 0 ? `${rest}m` : `${hours}h ${rest}m`;
}
