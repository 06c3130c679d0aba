import { lazy, Suspense, type ReactElement, type Ref } from 'react';
import type { TraceViewProps } from '../contract.ts';
import { Glyph } from '../glyphs.tsx';
import { CopyButton } from './copy-button.tsx';
import { explanationOf } from './explanation.ts';
import { factsOf, type Fact } from './facts.ts';
import { DecisionCard, DecisionGroups } from './decision-view.tsx';
import { StepAgents } from './step-agents.tsx';
import type { TraceRow } from './trace-rows.ts';
import { durationText, moneyText } from '../../number-text.ts';
import type { TraceStep } from '../../trace/trace.ts';
import type { StepTab } from '../route.ts';
import { ViewBoundary } from '../view-boundary.tsx';
import { noteTab, tabOf } from './step-tab.ts';
import { StepTabs } from './step-tabs.tsx';
import { OutcomePanel } from './outcome-panel.tsx';

interface InspectorProps {
  readonly view: TraceViewProps;
  readonly row: TraceRow;
  readonly previous: number | null;
  readonly next: number | null;
  readonly onSelect: (number: number) => void;
  /** Shows all steps again, on a phone. */
  readonly onBack: () => void;
  readonly paneRef: Ref<HTMLElement>;
}

const StepPanes = lazy(async () => ({
  default: (await import('../payloads/step-panes.tsx')).StepPanes,
}));

/** Renders one step: its decision, and what it sent and received. */
export function Inspector({ view, row, paneRef, onBack, ...pager }: InspectorProps): ReactElement {
  const { step } = row;
  const isDone = step !== null && step.type !== 'running' && step.type !== 'waiting';
  const isForkable = isDone && !view.trace.nested && view.isReadOnly !== true;
  const hasTabs = step !== null && view.payloads !== undefined;
  const tab = hasTabs ? tabOf(view.tab ?? null, step) : 'decision';
  const choose = (name: StepTab): void => {
    noteTab(name);
    view.onTab?.(name);
  };
  return (
    <aside className="trace-inspector" aria-label="Checks of the selected step" ref={paneRef}>
      <header>
        <button
          type="button"
          className="button button-icon button-small inspector-back"
          aria-label="All steps"
          onClick={onBack}
        >
          <Glyph name="back" size={14} />
        </button>
        <h3>{step ? `Step ${row.number}` : 'Before the first step'}</h3>
        {step && <span className="muted">{costOf(step)}</span>}
        <span className="inspector-tools">
          {row.outcome && <CopyButton text={() => explanationOf(view.trace, row)} />}
          {isForkable && (
            <button
              type="button"
              className="button button-ghost button-small"
              onClick={() => view.onFork(row.number)}
            >
              <Glyph name="fork" size={12} />
              <span className="inspector-fork">Fork from here</span>
            </button>
          )}
          <PagerButton name="Previous step" glyph="up" to={pager.previous} {...pager} />
          <PagerButton name="Next step" glyph="expand" to={pager.next} {...pager} />
        </span>
      </header>
      {hasTabs && <StepTabs step={step} tab={tab} onTab={choose} />}
      <div
        className="step-panel"
        id="step-panel"
        {...(hasTabs && { role: 'tabpanel', 'aria-labelledby': `step-tab-${tab}` })}
      >
        {tab === 'decision' || step === null ? (
          <DecisionPane row={row} view={view} />
        ) : (
          <ViewBoundary resetBy={`${row.number} ${tab}`}>
            <Suspense fallback={null}>
              <StepPanes tab={tab} step={step} view={view} />
            </Suspense>
          </ViewBoundary>
        )}
      </div>
    </aside>
  );
}

const costOf = ({ durationMs, cost }: TraceStep): string =>
  [durationText(durationMs), ...(cost === null || cost === 0 ? [] : [moneyText(cost)])].join(' · ');

function DecisionPane({
  row,
  view,
}: {
  readonly row: TraceRow;
  readonly view: TraceViewProps;
}): ReactElement {
  const { step, outcome } = row;
  const hasBanner = row.isLast && view.trace.stop !== null;
  return (
    <>
      {hasBanner ? (
        <OutcomePanel row={row} view={view} />
      ) : outcome ? (
        <DecisionCard outcome={outcome} isOver={row.isLast} />
      ) : (
        <NoOutcome row={row} />
      )}
      {outcome && <DecisionGroups key={row.number} outcome={outcome} />}
      {step && <StepAgents key={row.number} step={step} view={view} />}
      {step && <Facts facts={factsOf(step)} />}
    </>
  );
}

function PagerButton({
  name,
  glyph,
  to,
  onSelect,
}: {
  readonly name: string;
  readonly glyph: 'up' | 'expand';
  readonly to: number | null;
  readonly onSelect: (number: number) => void;
}): ReactElement {
  return (
    <button
      type="button"
      className="button button-icon button-small"
      aria-label={name}
      title={name}
      aria-disabled={to === null || undefined}
      onClick={() => to !== null && onSelect(to)}
    >
      <Glyph name={glyph} size={14} />
    </button>
  );
}

function Facts({ facts }: { readonly facts: readonly Fact[] }): ReactElement | null {
  if (facts.length === 0) return null;
  return (
    <ul className="inspector-facts">
      {facts.map(({ text, code, isBad }, i) => (
        <li key={`${i}:${text}`} data-bad={isBad || undefined}>
          {text}
          {code !== undefined && (
            <>
              {' '}
              <code>{code}</code>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function NoOutcome({ row }: { readonly row: TraceRow }): ReactElement {
  const waits = row.step?.type === 'waiting';
  return (
    <div className="inspector-open">
      <Glyph name={waits ? 'paused' : 'working'} size={20} />
      <h4>No decision yet</h4>
      <p>
        {waits
          ? `The step needs ${row.step?.bars.some((bar) => bar.asks) ? 'an answer' : 'approval'}. Checks are evaluated when it ends.`
          : 'The step is running. Checks are evaluated when it ends.'}
      </p>
    </div>
  );
}
