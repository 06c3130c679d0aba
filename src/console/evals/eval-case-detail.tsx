import { useState, type ReactElement } from 'react';
import type { CaseReport, RunReport, ScoreReport } from '../../evals/eval-report.ts';
import { Glyph } from '../glyphs.tsx';
import { pageHref, traceHref } from '../route.ts';
import { firstShown } from './eval-text.ts';

export interface EvalCaseDetailProps {
  readonly one: CaseReport;
  /** The case in the baseline; null if it has none. */
  readonly before: CaseReport | null;
  readonly baselineNumber: number | null;
}

/** Renders a case: what it was asked, what it answered, and why it failed. */
export function EvalCaseDetail({ one, before, baselineNumber }: EvalCaseDetailProps): ReactElement {
  const [chosen, setChosen] = useState<number | null>(null);
  const [isCompared, setCompared] = useState(false);
  const run = one.runs.find(({ number }) => number === chosen) ?? firstShown(one);
  const old = before && firstShown(before);
  const name = baselineNumber === null ? 'the baseline' : `run #${baselineNumber}`;
  return (
    <div className="evals-case-detail">
      <div>
        <h3>Input</h3>
        <p className="evals-text" dir="auto">
          {one.input}
        </p>
        {one.expected !== null && (
          <>
            <h3>Expected</h3>
            <code className="evals-text">{one.expected}</code>
          </>
        )}
        {one.runs.length > 1 && (
          <div className="evals-runs" role="group" aria-label="Runs">
            {one.runs.map(({ number, status }) => (
              <button
                key={number}
                type="button"
                aria-pressed={number === run?.number}
                data-status={status}
                onClick={() => setChosen(number)}
              >
                <Glyph name={status === 'passed' ? 'check' : 'close'} size={11} />
                <span className="visually-hidden">
                  {status === 'passed' ? 'passed' : 'failed'}, run{' '}
                </span>
                {number}
              </button>
            ))}
          </div>
        )}
        {run && <Answer title="Answer" run={run} />}
        {isCompared && old && <Answer title={`Answer in ${name}`} run={old} />}
      </div>
      <div>
        {run && <Reasons title="Why it failed" run={run} />}
        {isCompared && old && <Reasons title={`In ${name}`} run={old} showsPassed />}
        {run && run.calls.length > 0 && <Calls run={run} />}
        <div className="evals-actions">
          {run?.sessionId && <OpenTrace run={run} sessionId={run.sessionId} />}
          {old && (
            <button
              type="button"
              className="button button-small"
              aria-pressed={isCompared}
              onClick={() => setCompared(!isCompared)}
            >
              Compare with {name}
            </button>
          )}
          {run?.sessionId && old?.sessionId && (
            <a className="button button-small" href={bothTraces(old, run)}>
              Compare traces
            </a>
          )}
        </div>
      </div>
    </div>
  );
}

/** The address that compares two recorded runs, the earlier one first. */
const bothTraces = (old: RunReport, run: RunReport): string =>
  pageHref('compare', {
    query: {
      left: old.sessionId,
      right: run.sessionId,
      leftRun: old.executionId,
      rightRun: run.executionId,
    },
  });

function Answer({ title, run }: { readonly title: string; readonly run: RunReport }): ReactElement {
  return (
    <>
      <h3>{title}</h3>
      {run.answer === '' ? (
        <p className="muted">No answer.</p>
      ) : (
        <p className="evals-text" dir="auto">
          “{run.answer}”
        </p>
      )}
    </>
  );
}

const hasFailed = ({ status }: ScoreReport): boolean => status === 'fail' || status === 'error';

function Reasons({
  title,
  run,
  showsPassed = false,
}: {
  readonly title: string;
  readonly run: RunReport;
  readonly showsPassed?: boolean;
}): ReactElement {
  const failed = run.scores.filter(hasFailed);
  const isFine = failed.length === 0 && run.error === null;
  if (isFine)
    return (
      <>
        <h3>{showsPassed ? title : 'Result'}</h3>
        <p>{run.status === 'not_run' ? 'It did not run.' : 'All scorers that apply passed.'}</p>
      </>
    );
  return (
    <>
      <h3>{title}</h3>
      <ul className="evals-reasons">
        {run.error !== null && <Reason name="error" score={null} reason={run.error} />}
        {failed.map(({ scorer, score, reason }) => (
          <Reason key={scorer} name={scorer} score={score} reason={reason} />
        ))}
      </ul>
    </>
  );
}

function Reason({
  name,
  score,
  reason,
}: {
  readonly name: string;
  readonly score: number | null;
  readonly reason: string;
}): ReactElement {
  return (
    <li>
      <Glyph name="close" size={12} />
      <span>
        <b>
          <bdi>{name}</bdi>
          {score !== null && ` ${score.toFixed(2)}`}
        </b>{' '}
        <span dir="auto">{reason}</span>
      </span>
    </li>
  );
}

function Calls({ run }: { readonly run: RunReport }): ReactElement {
  return (
    <details className="evals-calls">
      <summary>
        {run.calls.length} tool {run.calls.length === 1 ? 'call' : 'calls'}
      </summary>
      <ol>
        {run.calls.map(({ tool, args, step, kind, agent, error }, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- the list of a stored report never changes
          <li key={at} data-failed={kind !== 'ok'}>
            <span className="muted">
              step {step}
              {agent !== null && (
                <>
                  {' '}
                  · <bdi>{agent}</bdi>
                </>
              )}
            </span>{' '}
            <code>
              {tool} {args}
            </code>{' '}
            {kind !== 'ok' && <b>{error ?? kind}</b>}
          </li>
        ))}
      </ol>
    </details>
  );
}

function OpenTrace({
  run,
  sessionId,
}: {
  readonly run: RunReport;
  readonly sessionId: string;
}): ReactElement {
  const step = run.scores.find((score) => hasFailed(score) && score.step !== undefined)?.step;
  return (
    <a className="button button-small" href={traceHref(sessionId, step ?? null, run.executionId)}>
      {step === undefined ? 'Open trace' : `Open trace at step ${step}`}
    </a>
  );
}
