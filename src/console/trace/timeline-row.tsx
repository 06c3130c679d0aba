import { memo, type CSSProperties, type NamedExoticComponent, type ReactElement } from 'react';
import { Glyph, decisionGlyph } from '../glyphs.tsx';
import type { Axis } from './axis.ts';
import { Chart } from './chart.tsx';
import { tagsOf, type TraceRow } from './trace-rows.ts';
import { causeText } from '../status-text.ts';
import { failedCalls } from './step-tab.ts';
import { counted, countText, durationText, moneyText } from '../../number-text.ts';

export interface TimelineRowProps {
  readonly row: TraceRow;
  readonly axis: Axis;
  readonly plotWidth: number;
  readonly chartWidth: number;
  readonly top: number;
  readonly height: number;
  readonly position: number;
  readonly count: number;
  readonly isSelected: boolean;
  readonly onSelect: (number: number) => void;
}

export const TimelineRow: NamedExoticComponent<TimelineRowProps> = memo(DrawnRow, isSame);

/** Compares props: every document creates new rows, but most show the same. */
function isSame(a: TimelineRowProps, b: TimelineRowProps): boolean {
  const { row: rowA, ...restA } = a;
  const { row: rowB, ...restB } = b;
  if (rowA.step !== rowB.step || rowA.outcome !== rowB.outcome) return false;
  return Object.entries(restA).every(
    ([name, value]) => restB[name as keyof typeof restB] === value,
  );
}

function DrawnRow(props: TimelineRowProps): ReactElement {
  const { row, isSelected } = props;
  const place: CSSProperties = { top: props.top, height: props.height };
  return (
    <li aria-setsize={props.count} aria-posinset={props.position} style={place}>
      <button
        type="button"
        className="trace-row"
        data-step={row.number}
        aria-current={isSelected ? 'step' : undefined}
        tabIndex={isSelected ? 0 : -1}
        onClick={() => props.onSelect(row.number)}
      >
        <span className="trace-row-head">
          <span className="trace-row-name">
            <span className="visually-hidden">Step </span>
            <b>{row.number}</b>
            {row.step ? (
              <Tags row={row} />
            ) : (
              <span className="trace-tag">before the first step</span>
            )}
            {row.step && (
              <span className="trace-row-time">{durationText(row.step.durationMs)}</span>
            )}
          </span>
          <OutcomePanel row={row} />
        </span>
        {row.step && (
          <>
            <Chart
              step={row.step}
              axis={props.axis}
              plotWidth={props.plotWidth}
              chartWidth={props.chartWidth}
            />
            <Spent step={row.step} />
          </>
        )}
      </button>
    </li>
  );
}

type Step = NonNullable<TraceRow['step']>;

function Tags({ row: { step } }: { readonly row: TraceRow }): ReactElement[] | null {
  if (!step) return null;
  return tagsOf(step).map((tag) => (
    <span key={tag} className="trace-tag" data-tag={tag}>
      {tag}
    </span>
  ));
}

function OutcomePanel({ row: { outcome, step } }: { readonly row: TraceRow }): ReactElement {
  if (!outcome)
    return (
      <span className="trace-row-outcome" data-says="open">
        <Glyph name={step?.type === 'waiting' ? 'paused' : 'working'} size={11} />
        <span>{step?.type === 'waiting' ? 'Waiting, no decision yet' : 'No decision yet'}</span>
      </span>
    );
  return (
    <span className="trace-row-outcome" data-says={outcome.decision}>
      <Glyph name={decisionGlyph[outcome.decision]} size={11} />
      <span title={outcome.resolvedBy}>{wordsOf(outcome, step)}</span>
    </span>
  );
}

/** Returns what was decided. A row says more only if it is unusual. */
function wordsOf(
  { shouldContinue, resolvedBy, stopReason }: NonNullable<TraceRow['outcome']>,
  step: TraceRow['step'],
): string {
  if (!shouldContinue)
    return stopReason === 'completed' ? 'Finished' : `Stopped · ${causeText(stopReason ?? '')}`;
  const failed = failedCalls(step);
  if (failed > 0) return `Continued · ${counted(failed, 'error')}`;
  return resolvedBy === 'ToolCallPresenceCheck' ? 'Continued' : `Continued · ${resolvedBy}`;
}

/** Tokens over cost. */
function Spent({ step }: { readonly step: Step }): ReactElement {
  const { inputTokens, outputTokens, cost, costSoFar } = step;
  const all = inputTokens + outputTokens;
  const detail = [
    `${countText(inputTokens)} in, ${countText(outputTokens)} out`,
    ...(costSoFar === null ? [] : [`${moneyText(costSoFar)} so far`]),
  ];
  return (
    <span className="trace-row-number" title={detail.join(' · ')}>
      {all === 0 ? (
        <span className="trace-none">{step.type === 'running' ? '–' : 'no usage'}</span>
      ) : (
        <span>
          {countText(all)}
          <span className="trace-unit"> tokens</span>
        </span>
      )}
      <small>{cost === null || (all === 0 && !cost) ? '–' : moneyText(cost)}</small>
    </span>
  );
}
