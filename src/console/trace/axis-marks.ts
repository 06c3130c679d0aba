import type { Axis, AxisTick } from './axis.ts';
import { textWidth } from './text-width.ts';
import { durationText } from '../../number-text.ts';

/** A label above the axis; `x` in pixels. */
export interface AxisMark {
  readonly key: string;
  readonly text: string;
  readonly x: number;
  readonly anchor: 'start' | 'middle' | 'end';
  readonly title?: string;
}

/**
 * Creates the marks: beginning, pauses, end, then round numbers. A label that would touch an earlier one keeps only
 * its line.
 */
export function marksOf(axis: Axis, plotWidth: number): readonly AxisMark[] {
  const marks: AxisMark[] = [];
  const taken: { readonly from: number; readonly to: number }[] = [];
  const add = (mark: AxisMark, width: number): void => {
    const { x, anchor } = mark;
    const from = anchor === 'start' ? x : anchor === 'end' ? x - width : x - width / 2;
    const to = from + width;
    if (taken.some((other) => from < other.to && to > other.from)) return;
    taken.push({ from, to });
    marks.push(mark);
  };
  const addTick = ({ at, left, label }: AxisTick): void => {
    const x = left * plotWidth;
    const width = textWidth(label) + 8;
    const anchor = x < width / 2 ? 'start' : 'middle';
    add({ key: `tick${at}`, text: label, x, anchor }, width);
  };
  const [first, ...rest] = axis.ticks;
  if (first) addTick(first);
  for (const { at, left, width, pauses } of axis.breaks) {
    const x = (left + width / 2) * plotWidth;
    add({ key: `pause${at}`, text: '//', x, anchor: 'middle', title: pauseText(pauses) }, 16);
  }
  const end = textWidth(axis.endLabel) + 6;
  add({ key: 'end', text: axis.endLabel, x: plotWidth, anchor: 'end' }, end);
  rest.forEach(addTick);
  return marks;
}

const pauseText = (pauses: Axis['breaks'][number]['pauses']): string =>
  pauses
    .map(({ durationMs, reason }) =>
      [durationMs === null ? 'waiting' : `paused ${durationText(durationMs)}`, reason]
        .filter(Boolean)
        .join(': '),
    )
    .join('; ');
