import type { LabelPart, Lane } from './lanes.ts';
import { textWidth } from './text-width.ts';

/** In pixels of the chart. */
export interface PlacedLabel {
  readonly parts: readonly LabelPart[];
  readonly side: 'left' | 'right';
  /** From the chart's left edge, or from its right edge where the label stands left of its bar. */
  readonly offset: number;
  readonly maxWidth: number;
  /** Set where something of it could not be shown. */
  readonly title: string | null;
}

const gap = 6;
/** A bar of no length is still drawn this wide. */
export const thinnest = 3;

export const partsWidth = (parts: readonly LabelPart[]): number =>
  parts.reduce(
    (sum, { text, tone }) => sum + textWidth(text) * (tone === 'failed' ? 1.08 : 1),
    Math.max(0, parts.length - 1) * 4,
  );

const textOf = (parts: readonly LabelPart[]): string => parts.map(({ text }) => text).join(' ');

/** The whole stretch of a lane that is drawn, in pixels. */
function extentOf(
  { pieces }: Lane,
  plotWidth: number,
): { readonly from: number; readonly to: number } {
  const from = Math.min(...pieces.map((piece) => piece.from)) * plotWidth;
  const to = Math.max(...pieces.map((piece) => piece.to)) * plotWidth;
  return { from, to: Math.max(to, from + thinnest) };
}

/**
 * Right of the bar, left of it when the bar lies past the middle, the other side where that has no room. A label that
 * fits nowhere gives way to a shorter one, and only the shortest of all is cut.
 */
export function placeLabel(lane: Lane, plotWidth: number, chartWidth: number): PlacedLabel {
  const { from, to } = extentOf(lane, plotWidth);
  const room = { right: chartWidth - to - gap, left: from - gap };
  const offset = { right: to + gap, left: chartWidth - from + gap };
  const first = (from + to) / 2 > chartWidth / 2 ? 'left' : 'right';
  const second = first === 'left' ? 'right' : 'left';
  for (const parts of lane.labels)
    for (const side of [first, second] as const)
      if (partsWidth(parts) <= room[side])
        return {
          parts,
          side,
          offset: offset[side],
          maxWidth: room[side],
          title: textOf(parts) === lane.title ? null : lane.title,
        };
  const side = room.left > room.right ? 'left' : 'right';
  return {
    parts: lane.labels.at(-1) ?? [],
    side,
    offset: offset[side],
    maxWidth: Math.max(0, room[side]),
    title: lane.title,
  };
}

/** No label takes more of a chart than this for itself. */
const leastPlot = 0.55;

/** How much of the chart its plot may take so that every label finds room beside its bar. */
export function plotWidthFor(lanes: readonly Lane[], chartWidth: number): number {
  let plot = chartWidth;
  for (const lane of lanes) {
    const { from, to } = extentOf(lane, chartWidth);
    const needed = partsWidth(lane.labels.at(-1) ?? []) + gap;
    if (needed <= chartWidth - to || needed <= from) continue;
    // the bar ends at the same share of a narrower plot
    plot = Math.min(plot, (chartWidth - needed) / (to / chartWidth));
  }
  if (plot === chartWidth) return chartWidth;
  // in steps, so that a growing number does not move the whole chart
  return Math.max(Math.round(chartWidth * leastPlot), Math.floor(plot / 24) * 24);
}
