import type { ReactElement, Ref } from 'react';
import type { Axis } from './axis.ts';
import { marksOf } from './axis-marks.ts';

interface TimelineHeadProps {
  /** Axis; null before any step. */
  readonly axis: Axis | null;
  readonly plotWidth: number;
  readonly chartRef: Ref<HTMLDivElement>;
  /** Follows the newest step; null if there is nothing to follow. */
  readonly onFollow: (() => void) | null;
}

export function TimelineHead({
  axis,
  plotWidth,
  chartRef,
  onFollow,
}: TimelineHeadProps): ReactElement {
  return (
    <div className="trace-head">
      <span className="trace-head-step">
        Step
        {onFollow && (
          <button type="button" className="trace-follow" onClick={onFollow}>
            Follow newest
          </button>
        )}
      </span>
      <div className="trace-axis" ref={chartRef}>
        {(axis ? marksOf(axis, plotWidth) : []).map(({ key, text, x, anchor, title }) => (
          <span key={key} data-anchor={anchor} style={{ left: x }} title={title}>
            {text}
          </span>
        ))}
      </div>
      {axis && <span className="trace-head-number">Tokens, cost</span>}
    </div>
  );
}

/** Renders lines and hatching behind the rows. */
export function TimelineGrid({
  axis,
  plotWidth,
}: {
  readonly axis: Axis;
  readonly plotWidth: number;
}): ReactElement {
  return (
    <div className="trace-grid" aria-hidden="true">
      {axis.ticks.map(({ at, left }) => (
        <i key={at} style={{ left: left * plotWidth }} />
      ))}
      {axis.breaks.map(({ at, left, width }) => (
        <i
          key={`pause${at}`}
          data-pause
          style={{ left: left * plotWidth, width: width * plotWidth }}
        />
      ))}
    </div>
  );
}
