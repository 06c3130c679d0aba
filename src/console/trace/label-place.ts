import type { LabelPart, Lane } from './lanes.ts';
import { textWidth } from './text-width.ts';

/** Position in pixels of the chart. */
export interface PlacedLabel {
  readonly parts: readonly LabelPart[];
  readonly side: 'left' | 'right';
  /** Distance from the chart's left edge, or from its right edge if the label is left of its bar. */
  readonly offset: number;
  readonly maxWidth: number;
  /** The whole text, if a part is not shown. */
  readonly title: string | null;
}

const gap = 6;
/** Minimum width of a bar. */
export const thinnest = 3;

export const partsWidth = (parts: readonly LabelPart[]): number =>
  parts.reduce(
    (sum, { text, tone }) => sum + textWidth(text) * (tone === 'failed' ? 1.08 : 1),
    Math.max(0, parts.length - 1) * 4,
  );

const textOf = (parts: readonly LabelPart[]): string => parts.map(({ text }) => text).join(' ');

/** Returns the drawn extent of a lane, in pixels. */
function extentOf(
  { pieces }: Lane,
  plotWidth: number,
): { readonly from: number; readonly to: number } {
  const from = Math.min(...pieces.map((piece) => piece.from)) * plotWidth;
  const to = Math.max(...pieces.map((piece) => piece.to)) * plotWidth;
  return { from, to: Math.max(to, from + thinnest) };
}

/**
 * Places a label right of the bar, left of a bar past the middle, or on the other side if there is no space. If it
 * fits nowhere, a shorter label is used, and only the shortest is truncated.
 */
export function placeLabel(lane: Lane, plotWidth: number, chartWidth: number): PlacedLabel {
  const { from, to } = extentOf(lane, plotWidth);
  const space = { right: chartWidth - to - gap, left: from - gap };
  const offset = { right: to + gap, left: chartWidth - from + gap };
  const first = (from + to) / 2 > chartWidth / 2 ? 'left' : 'right';
  const second = first === 'left' ? 'right' : 'left';
  for (const parts of lane.labels)
    for (const side of [first, second] as const)
      if (partsWidth(parts) <= space[side])
        return {
          parts,
          side,
          offset: offset[side],
          maxWidth: space[side],
          title: textOf(parts) === lane.title ? null : lane.title,
        };
  const side = space.left > space.right ? 'left' : 'right';
  return {
    parts: lane.labels.at(-1) ?? [],
    side,
    offset: offset[side],
    maxWidth: Math.max(0, space[side]),
    title: lane.title,
  };
}

/** Share of the chart that labels may take. */
const leastPlot = 0.55;

/** Returns the width of the plot that leaves space for every label next to its bar. */
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
