import { useCallback, useEffect, useMemo, useRef, type ReactElement } from 'react';
import type { TraceViewProps } from '../contract.ts';
import { Glyph } from '../glyphs.tsx';
import { Crumbs } from './crumbs.tsx';
import { Inspector } from './inspector.tsx';
import { MatrixView } from './matrix-view.tsx';
import { rowsOf } from './trace-rows.ts';
import { TimeSpent } from './time-spent.tsx';
import { Timeline } from './timeline.tsx';
import { Totals } from './totals.tsx';
import { useGrown } from './use-grown.ts';
import { stepTabs } from '../route.ts';
import { useKeys } from '../use-keys.ts';
import { nextFailure, noteTab } from './step-tab.ts';
import { useStepKeys } from './use-step-keys.ts';
import { WhyLine } from './why-line.tsx';

/** Renders why every step continued and why the last one did not. */
export function TraceView(props: TraceViewProps): ReactElement {
  const { selected, onSelect, onEarlier } = props;
  const trace = useGrown(props.trace);
  const rows = useMemo(() => rowsOf(trace), [trace]);
  // a growing step changes only the timeline
  const settled = useMemo(
    () => (trace === props.trace ? rows : rowsOf(props.trace)),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the rows of the document, once per document
    [props.trace],
  );
  const inspector = useRef<HTMLElement>(null);

  const found = selected === null ? -1 : rows.findIndex(({ number }) => number === selected);
  const isMissing = selected !== null && found < 0 && trace.hasEarlier;
  const at = found < 0 ? rows.length - 1 : found;
  const shown = isMissing ? undefined : rows[at];
  const firstNumber = rows[0]?.number;
  useEffect(() => {
    if (isMissing) onEarlier();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for every page of earlier steps
  }, [isMissing, firstNumber]);

  const select = useCallback((number: number) => onSelect(number), [onSelect]);
  const hasPicked = found >= 0;
  const { onTab } = props;
  useKeys({
    ...Object.fromEntries(
      stepTabs.map((tab, i) => [
        String(i + 1),
        () => {
          noteTab(tab);
          onTab?.(tab);
        },
      ]),
    ),
    n: () => {
      const next = nextFailure(rows, at);
      if (next !== null) select(next);
    },
  });
  const toOutcome = (): void => {
    const last = rows.at(-1);
    if (last && last !== shown) select(last.number);
    inspector.current?.scrollIntoView({ block: 'start' });
  };
  useStepKeys(rows, at, select);

  if (rows.length === 0)
    return trace.nested ? (
      <div className="trace-none-yet">
        <Crumbs view={props} />
        <NoSteps text="The agent has not taken a step." />
      </div>
    ) : (
      <NoSteps text="Send a message to see the first decision." />
    );
  const canFollow = selected !== null && (at !== rows.length - 1 || trace.status === 'processing');
  return (
    <div
      className="trace"
      data-key="trace"
      data-status={trace.status}
      data-picked={hasPicked || undefined}
    >
      <div className="trace-main">
        <Crumbs view={props} />
        <WhyLine trace={trace} onOpen={toOutcome} />
        <Totals trace={trace} />
        <Timeline
          trace={trace}
          rows={rows}
          selected={shown}
          isPicked={hasPicked}
          onSelect={select}
          onFollow={canFollow ? () => onSelect(null) : null}
          onEarlier={onEarlier}
        />
        <div className="trace-under">
          <MatrixView rows={settled} selected={shown?.number} onSelect={select} />
          <TimeSpent trace={props.trace} />
        </div>
      </div>
      {shown ? (
        <Inspector
          view={{ ...props, trace }}
          row={shown}
          previous={rows[at - 1]?.number ?? null}
          next={rows[at + 1]?.number ?? null}
          onSelect={select}
          onBack={() => onSelect(null)}
          paneRef={inspector}
        />
      ) : (
        <aside className="trace-inspector" aria-label="Checks of the selected step">
          <p className="inspector-open">Loading step {selected}…</p>
        </aside>
      )}
    </div>
  );
}

function NoSteps({ text }: { readonly text: string }): ReactElement {
  return (
    <div className="trace-empty">
      <Glyph name="trace" size={20} />
      <h3>No steps yet</h3>
      <p>{text}</p>
    </div>
  );
}
