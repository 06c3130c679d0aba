import { useLayoutEffect, useMemo, useRef, useState, type ReactElement } from 'react';
import type { ContinuationDecision } from '../../continuation/decision.ts';
import { Glyph, decisionGlyph } from '../glyphs.tsx';
import { counted } from '../../number-text.ts';
import { CodeName } from './code-name.tsx';
import { decisionNames, precedence } from './precedence.ts';
import { columnsOf, matrixOf, maxColumns, type MatrixCell } from './matrix.ts';
import type { TraceRow } from './trace-rows.ts';

interface MatrixProps {
  readonly rows: readonly TraceRow[];
  readonly selected: number | undefined;
  readonly onSelect: (number: number) => void;
}

/** Renders the decision of each check in each step; a ring marks the deciding check. */
export function MatrixView({ rows, selected, onSelect }: MatrixProps): ReactElement | null {
  const columns = useMemo(() => columnsOf(rows, selected), [rows, selected]);
  const first = columns[0]?.number;
  const last = columns.at(-1)?.number;
  const { evaluations } = useMemo(() => matrixOf(columns), [columns]);
  const pane = useRef<HTMLDivElement>(null);
  // the newest columns are visible first
  useLayoutEffect(() => {
    const element = pane.current;
    if (element) element.scrollLeft = element.scrollWidth;
  }, [last]);
  const [isWhole, setWhole] = useState(false);
  if (evaluations.length === 0) return null;
  const loud = evaluations.filter(({ cells }) =>
    cells.some(({ evaluation }) => evaluation !== null && evaluation.decision !== 'allow'),
  );
  const quiet = evaluations.length - loud.length;
  return (
    <section className="trace-matrix" aria-labelledby="trace-matrix-title">
      <h3 id="trace-matrix-title">
        Checks by step
        {rows.length > maxColumns && (
          <span className="muted">
            {' '}
            {first} to {last}
          </span>
        )}
      </h3>
      <VoteLegend />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <div className="matrix-pane" ref={pane} tabIndex={0} role="group" aria-label="Checks by step">
        <table data-many={columns.length > 8 || undefined}>
          <thead>
            <tr>
              <td />
              {columns.map(({ number }) => (
                <th key={number} scope="col" data-selected={number === selected || undefined}>
                  <button
                    type="button"
                    aria-current={number === selected ? 'step' : undefined}
                    onClick={() => onSelect(number)}
                  >
                    <span className="visually-hidden">Step </span>
                    {number}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(isWhole ? evaluations : loud).map(({ name, cells }) => (
              <tr key={name}>
                <th scope="row" title={name}>
                  <CodeName name={name} />
                </th>
                {cells.map((cell, i) => {
                  const number = columns[i]?.number;
                  return (
                    <td
                      key={number}
                      data-selected={number === selected || undefined}
                      data-decisive={cell.isDecisive || undefined}
                    >
                      <Vote cell={cell} name={`${name}, step ${number}`} />
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {quiet > 0 && (
        <button
          type="button"
          className="matrix-more"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          <Glyph name="chevron" size={10} />
          {counted(quiet, 'check')} allowed every step
        </button>
      )}
    </section>
  );
}

function Vote({ cell, name }: { readonly cell: MatrixCell; readonly name: string }): ReactElement {
  const { evaluation, isDecisive } = cell;
  if (!evaluation)
    return (
      <span className="matrix-none" role="img" aria-label={`${name}: not evaluated`}>
        ·
      </span>
    );
  const says = decisionNames[evaluation.decision].toLowerCase();
  return (
    <span
      className="vote"
      data-vote={evaluation.decision}
      role="img"
      aria-label={`${name}: ${says}${isDecisive ? ', decided' : ''}`}
      title={evaluation.reason}
    >
      <Glyph name={decisionGlyph[evaluation.decision]} size={11} />
    </span>
  );
}

function VoteLegend(): ReactElement {
  return (
    <p className="trace-legend">
      {precedence.map((decision: ContinuationDecision, i) => (
        <span key={decision}>
          {i > 0 && (
            <span className="legend-over" aria-hidden="true">
              ›
            </span>
          )}
          <span className="vote" data-vote={decision}>
            <Glyph name={decisionGlyph[decision]} size={11} />
          </span>
          {decisionNames[decision]}
        </span>
      ))}
      <span>
        <i className="legend-ring" aria-hidden="true" />
        decided
      </span>
    </p>
  );
}
