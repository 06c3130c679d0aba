import type { CSSProperties, ReactElement } from 'react';
import type { TraceStep } from '../../trace/trace.ts';
import type { Axis } from './axis.ts';
import { placeLabel, thinnest, type PlacedLabel } from './label-place.ts';
import { lanesOf, type Lane } from './lanes.ts';

interface ChartProps {
  readonly step: TraceStep;
  readonly axis: Axis;
  readonly plotWidth: number;
  readonly chartWidth: number;
}

/** Renders what one step did and when: the model's lane, then one for each call. */
export function Chart({ step, axis, plotWidth, chartWidth }: ChartProps): ReactElement {
  return (
    <span className="trace-chart">
      {lanesOf(step, axis).map((lane) => (
        <LaneView key={lane.key} lane={lane} plotWidth={plotWidth} chartWidth={chartWidth} />
      ))}
    </span>
  );
}

interface LaneProps {
  readonly lane: Lane;
  readonly plotWidth: number;
  readonly chartWidth: number;
}

function LaneView({ lane, plotWidth, chartWidth }: LaneProps): ReactElement {
  const label = placeLabel(lane, plotWidth, chartWidth);
  return (
    <span className="trace-lane">
      {lane.pieces.map(({ kind, from, to }) => (
        <i
          key={kind}
          className="trace-bar"
          data-kind={kind}
          style={{ left: from * plotWidth, width: Math.max(thinnest, (to - from) * plotWidth) }}
        />
      ))}
      <span className="trace-label" style={labelStyle(label)} title={label.title ?? undefined}>
        {label.parts.map(({ text, tone }, i) => (
          <span key={tone + text} data-tone={tone}>
            {i > 0 && ' '}
            {text}
          </span>
        ))}
      </span>
    </span>
  );
}

const labelStyle = ({ side, offset, maxWidth }: PlacedLabel): CSSProperties =>
  side === 'right' ? { left: offset, maxWidth } : { right: offset, maxWidth };
