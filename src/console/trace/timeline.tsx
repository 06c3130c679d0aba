import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactElement } from 'react';
import type { Trace } from '../../trace/trace.ts';
import { axisOf, sameAxis, type Axis } from './axis.ts';
import { plotWidthFor } from './label-place.ts';
import { crowdedLanes } from './lanes.ts';
import { Legend } from './legend.tsx';
import { rowTops } from './row-heights.ts';
import type { TraceRow } from './trace-rows.ts';
import { stepFor } from './step-keys.ts';
import { TimelineGrid, TimelineHead } from './timeline-head.tsx';
import { TimelineRow } from './timeline-row.tsx';
import { phone, useMedia } from './use-media.ts';
import { useNewestInSight, useSteadyRows } from './use-steady-rows.ts';
import { useRowsWindow } from './use-rows-window.ts';
import { useWidth } from './use-width.ts';

interface TimelineProps {
  readonly trace: Trace;
  readonly rows: readonly TraceRow[];
  readonly selected: TraceRow | undefined;
  /** Whether the user selected a step, and did not just follow the newest. */
  readonly isPicked: boolean;
  readonly onSelect: (number: number) => void;
  readonly onFollow: (() => void) | null;
  readonly onEarlier: () => void;
}

const headHeight = 31;
/** Number of rows above which they scroll on their own if the checks are below them. */
const fewRows = 20;

export function Timeline(props: TimelineProps): ReactElement {
  const { trace, rows, selected, isPicked, onSelect } = props;
  const hasSteps = trace.steps.length > 0;
  const list = useRef<HTMLOListElement>(null);
  const chart = useRef<HTMLDivElement>(null);
  const isPhone = useMedia(phone);
  const chartWidth = useWidth(chart);
  const axis = useAxis(trace, chartWidth);
  const plotWidth = useMemo(
    () => plotWidthFor(crowdedLanes(trace.steps, axis, chartWidth), chartWidth),
    [trace.steps, axis, chartWidth],
  );
  const tops = useMemo(() => rowTops(rows, isPhone), [rows, isPhone]);
  const { first, end, reveal } = useRowsWindow(list, tops, headHeight);
  const at = rows.findIndex(({ number }) => number === selected?.number);

  useSteadyRows(list, rows, tops);
  useNewestInSight(list, tops, isPicked ? null : reveal);

  useEffect(() => {
    if (isPicked && at >= 0 && !isPhone) reveal(at);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- a new document is no reason to scroll
  }, [isPicked, selected?.number, at >= 0]);

  const hasKeys = useRef(false);
  useEffect(() => {
    if (!hasKeys.current) return;
    hasKeys.current = false;
    list.current
      ?.querySelector<HTMLElement>(`[data-step="${selected?.number}"]`)
      ?.focus({ preventScroll: true });
  }, [selected?.number]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const next = stepFor(event, rows, at);
    if (next === null) return;
    event.preventDefault();
    hasKeys.current = true;
    onSelect(next);
  };

  return (
    <section
      className="trace-timeline"
      aria-label="Timeline"
      data-many={rows.length > fewRows || undefined}
    >
      <TimelineHead
        axis={hasSteps ? axis : null}
        plotWidth={plotWidth}
        chartRef={chart}
        onFollow={props.onFollow}
      />
      {trace.hasEarlier && (
        <button type="button" className="trace-earlier" onClick={props.onEarlier}>
          Load earlier steps
        </button>
      )}
      <div className="trace-rows">
        {hasSteps && <TimelineGrid axis={axis} plotWidth={plotWidth} />}
        <ol ref={list} style={{ height: tops.at(-1) }} onKeyDown={onKeyDown}>
          {drawn(first, end, at).map((i) => {
            const row = rows[i];
            return row ? (
              <TimelineRow
                key={row.number}
                row={row}
                axis={axis}
                plotWidth={plotWidth}
                chartWidth={chartWidth}
                top={tops[i] ?? 0}
                height={(tops[i + 1] ?? 0) - (tops[i] ?? 0)}
                position={i + 1}
                count={rows.length}
                isSelected={i === at}
                onSelect={onSelect}
              />
            ) : null;
          })}
        </ol>
      </div>
      <Legend trace={trace} />
    </section>
  );
}

/** Renders the visible rows and the selected one, which may have the focus. */
function drawn(first: number, end: number, selected: number): readonly number[] {
  const seen = Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i);
  if (selected < 0 || (selected >= first && selected < end)) return seen;
  return selected < first ? [selected, ...seen] : [...seen, selected];
}

/** Returns the same axis while nothing on it moves, so that rows need not render again. */
function useAxis(trace: Trace, chartWidth: number): Axis {
  const next = axisOf(trace, Math.max(2, Math.min(8, Math.floor(chartWidth / 80))));
  const [known, setKnown] = useState(next);
  if (sameAxis(known, next)) return known;
  setKnown(next);
  return next;
}
