import { Fragment, type ReactElement } from 'react';
import type { CaseReport, CaseScore, EvalComparison, EvalReport } from '../../evals/eval-report.ts';
import { moneyText } from '../../number-text.ts';
import { Glyph } from '../glyphs.tsx';
import { traceHref } from '../route.ts';
import { EvalCaseDetail } from './eval-case-detail.tsx';
import { firstShown, markOf, markText, rateText, scoreText } from './eval-text.ts';

export interface EvalTableProps {
  readonly report: EvalReport;
  /** The cases to show. */
  readonly cases: readonly CaseReport[];
  readonly comparison: EvalComparison | null;
  readonly baseline: EvalReport | null;
  /** Name of the open case; null if none is. */
  readonly open: string | null;
  readonly onOpen: (name: string | null) => void;
}

/** Renders cases by scorers. A row opens the details of its case. */
export function EvalTable(props: EvalTableProps): ReactElement {
  const { report, cases, comparison, baseline, open, onOpen } = props;
  const { scorers } = report;
  const columns = scorers.length + 4;
  return (
    <table className="evals-table">
      <thead>
        <tr>
          <th scope="col">Case</th>
          {scorers.map(({ name, label, passed, applied }) => (
            <th key={name} scope="col">
              <code>
                <bdi>{label}</bdi>
              </code>
              <em>
                {passed} / {applied}
              </em>
            </th>
          ))}
          <th scope="col" className="number">
            Steps
          </th>
          <th scope="col" className="number">
            Cost
          </th>
          <th scope="col">
            <span className="visually-hidden">Trace</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {cases.map((one, at) => {
          const isOpen = one.name === open;
          const id = `eval-case-${at}`;
          return (
            <Fragment key={one.name}>
              <tr data-open={isOpen} data-status={one.status}>
                <th scope="row">
                  <button
                    type="button"
                    className="evals-case"
                    aria-expanded={isOpen}
                    aria-controls={isOpen ? id : undefined}
                    onClick={() => onOpen(isOpen ? null : one.name)}
                  >
                    <Glyph name="expand" size={12} />
                    <code>
                      <bdi>{one.name}</bdi>
                    </code>
                  </button>
                  <CaseTags one={one} comparison={comparison} />
                </th>
                {scorers.map(({ name }) => (
                  <ScoreCell
                    key={name}
                    name={name}
                    score={one.scores.find(({ scorer }) => scorer === name)}
                    runs={one.runs.length}
                  />
                ))}
                <td className="number evals-only-wide">{one.steps}</td>
                <td className="number evals-only-wide">
                  {one.cost === null ? '–' : moneyText(one.cost)}
                </td>
                <td className="evals-trace">
                  <TraceLink one={one} />
                </td>
              </tr>
              {isOpen && (
                <tr className="evals-detail" id={id}>
                  <td colSpan={columns}>
                    <EvalCaseDetail
                      one={one}
                      before={baseline?.cases.find(({ name }) => name === one.name) ?? null}
                      baselineNumber={comparison?.number ?? null}
                    />
                  </td>
                </tr>
              )}
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
}

function CaseTags({
  one,
  comparison,
}: {
  readonly one: CaseReport;
  readonly comparison: EvalComparison | null;
}): ReactElement {
  const { name, status } = one;
  const rate = rateText(one);
  return (
    <>
      {comparison?.regressed.includes(name) && (
        <span className="evals-tag" data-kind="bad">
          regressed
        </span>
      )}
      {comparison?.fixed.includes(name) && (
        <span className="evals-tag" data-kind="good">
          fixed
        </span>
      )}
      {comparison?.added.includes(name) && <span className="evals-tag">new</span>}
      {status === 'not_run' && <span className="evals-tag">did not run</span>}
      {rate !== '' && <span className="evals-tag">{rate}</span>}
    </>
  );
}

function ScoreCell({
  name,
  score,
  runs,
}: {
  readonly name: string;
  readonly score: CaseScore | undefined;
  readonly runs: number;
}): ReactElement {
  const mark = markOf(score);
  return (
    <td className="evals-score" data-label={name}>
      <span className="evals-mark" data-mark={mark}>
        {mark === 'none' ? (
          <span aria-hidden="true">–</span>
        ) : (
          <Glyph name={mark === 'pass' ? 'check' : 'close'} size={13} />
        )}
        <span className="visually-hidden">{markText[mark]}</span>
        {scoreText(score, runs)}
      </span>
    </td>
  );
}

function TraceLink({ one }: { readonly one: CaseReport }): ReactElement | null {
  const run = firstShown(one);
  return run?.sessionId ? (
    <a href={traceHref(run.sessionId, null, run.executionId)}>
      Trace<span className="visually-hidden"> of {one.name}</span>
    </a>
  ) : null;
}
