import type { ReactElement, Ref } from 'react';
import type { TraceViewProps } from '../contract.ts';
import { Glyph } from '../glyphs.tsx';
import { CopyButton } from './copy-button.tsx';
import { explanationOf } from './explanation.ts';
import { factsOf, type Fact } from './facts.ts';
import { EvaluationList } from './evaluation-list.tsx';
import { StepAgents } from './step-agents.tsx';
import type { TraceRow } from './trace-rows.ts';
import { counted } from '../../number-text.ts';
import { OutcomePanel } from './outcome-panel.tsx';

interface InspectorProps {
  readonly view: TraceViewProps;
  readonly row: TraceRow;
  readonly previous: number | null;
  readonly next: number | null;
  readonly onSelect: (number: number) => void;
  readonly paneRef: Ref<HTMLElement>;
}

/** Renders one step: its checks and its outcome. */
export function Inspector({ view, row, paneRef, ...pager }: InspectorProps): ReactElement {
  const { step, outcome } = row;
  const isDone = step !== null && step.type !== 'running' && step.type !== 'waiting';
  const isForkable = isDone && !view.trace.nested && view.isReadOnly !== true;
  return (
    <aside className="trace-inspector" aria-label="Checks of the selected step" ref={paneRef}>
      <header>
        <h3>{step ? `Step ${row.number}` : 'Before the first step'}</h3>
        <span className="muted">
          {outcome ? counted(outcome.evaluations.length, 'check') : 'no decision yet'}
        </span>
        <span className="inspector-tools">
          {outcome && <CopyButton text={() => explanationOf(view.trace, row)} />}
          {isForkable && (
            <button
              type="button"
              className="button button-ghost button-small"
              onClick={() => view.onFork(row.number)}
            >
              Fork from here
            </button>
          )}
          <PagerButton name="Previous step" glyph="up" to={pager.previous} {...pager} />
          <PagerButton name="Next step" glyph="expand" to={pager.next} {...pager} />
        </span>
      </header>
      {step && <Facts facts={factsOf(step)} />}
      {step && <StepAgents key={row.number} step={step} view={view} />}
      {outcome ? <EvaluationList outcome={outcome} /> : <NoOutcome row={row} />}
      <OutcomePanel row={row} view={view} />
    </aside>
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
